/** Values that are strings in JSON. */
import { z } from 'zod'
import { Violation, withCheck } from '../violations.js'

/** Whether both databases can store a text. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

export const storableText = () =>
  withCheck(z.string(), (text) => (isStorable(text) ? undefined : new Violation('string_unicode', text)))

/** A string that can be parsed. */
export const parsedText = (keywords: Readonly<Record<string, unknown>>, parse: (text: string) => string | Violation) =>
  withCheck(z.string(), (text) => {
    const parsed = parse(text)
    return parsed instanceof Violation ? parsed : undefined
  }).meta(keywords)

/** JSON texts of other types than a string. */
export const notStrings = ['1', 'true', '[]', '{}']
