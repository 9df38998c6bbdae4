/** What the properties of a file's exports must be, and the words for those that are not: the same for every file of a project. */
import { z } from 'zod'
import { didYouMean, nearest } from './nearest.js'
import { formatValue, type Report } from './registryError.js'

export interface Shape<T = unknown> {
  /** A custom issue may have the words that follow the name in its `params`, as `error`. */
  readonly schema: z.ZodType<T>
  /** Completes the sentence "it must be …". */
  readonly expected: string
  /** What a message says if the property is missing; without it, the property may be left out. */
  readonly missing?: string
  /** Whether undefined is a mistake too; otherwise such a property counts as left out. */
  readonly rejectsUndefined?: true
}

export type Shapes = Readonly<Record<string, Shape>>
export type Properties = Readonly<Record<string, unknown>>

export const shape = <T>(expected: string, schema: z.ZodType<T>): Shape<T> => ({ expected, schema })

export const mandatory = <T>(base: Shape<T>): Shape<T> => ({ ...base, missing: `it must be ${base.expected}` })

export const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const anObject = z.record(z.string(), z.unknown())
export const filledText = z.string().regex(/\S/)
export const names = z.array(z.string()).readonly()
export const aFunction = <F extends () => unknown>() => z.custom<F>((value) => typeof value === 'function')

export const sentence = shape('a sentence', filledText)
export const flag = shape('true or omitted', z.literal(true))
export const trueOrFalse = shape('true or false', z.boolean())

interface PropertyWords {
  /** What a property is called, and what it belongs to: `option "filtr" of integer()`. */
  readonly noun?: string
  readonly owner?: string
  /** Precedes the name of a property: `product.` */
  readonly prefix?: string
  /** Whether a missing property is reported as undefined, also beside one that may be its misspelling. */
  readonly reportsUndefined?: true
  /** What to write instead of some unknown properties. */
  readonly advice?: Readonly<Record<string, string>>
}

/** Returns the valid properties; reports those that are unknown, missing or wrong. */
export const parseProperties = (
  properties: Properties,
  shapes: Shapes,
  report: Report,
  { noun = 'property', owner, prefix = '', reportsUndefined, advice = {} }: PropertyWords = {},
): Record<string, unknown> => {
  const keys = Object.keys(shapes)
  const valid: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(properties)) {
    const property = Object.hasOwn(shapes, name) ? shapes[name] : undefined
    if (!property) {
      const similar = didYouMean(name, keys) || `; it must be one of ${keys.join(', ')}`
      const hint = Object.hasOwn(advice, name) ? advice[name] : similar
      report(`unknown ${noun} "${name}"${owner ? ` of ${owner}` : ''}${hint}`, name)
      continue
    }
    if (value === undefined && !property.rejectsUndefined) continue
    const issue = property.schema.safeParse(value).error?.issues[0]
    const hint = value instanceof Date ? '; for the time of each create, write now or today' : ''
    const reason = `is ${formatValue(value)}, but it must be ${property.expected}${hint}`
    if (!issue) valid[name] = value
    else report(`${prefix}${name} ${issue.code === 'custom' ? (issue.params?.['error'] ?? reason) : reason}`, name)
  }
  // A misspelt property is reported once, not as missing too.
  const misspelt = Object.keys(properties).map((name) => (keys.includes(name) ? undefined : nearest(name, keys)))
  for (const [name, { expected, missing }] of Object.entries(shapes)) {
    if (missing === undefined || properties[name] !== undefined) continue
    if (reportsUndefined) report(`${prefix}${name} is undefined, but it must be ${expected}`)
    else if (!misspelt.includes(name)) report(`${prefix}${name} is missing; ${missing}`)
  }
  return valid
}
