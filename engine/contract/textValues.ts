/** What texts that people write mean as values: one grammar for the cells of an import and the controls of a form. */
import { isJson, kindOf } from '../descriptor/kinds/index.js'
import type { Field } from '../descriptor/registry.js'
import { Violation } from '../descriptor/violations.js'
import type { Issue } from './errors.js'
import { violationIssue } from './issues.js'

const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)$/

/** Whether a value is written as JSON has it, without quotes: a number or a boolean. */
export const isLiteral = ({ kind }: Pick<Field, 'kind'>): boolean => /number|checkbox/.test(kindOf(kind).input)

/** A number or a boolean as it is written, and any other text as one. */
export const literalJson = (text: string): string => (literal.test(text) ? text : JSON.stringify(text))

/** A text as JSON: numbers, booleans and JSON values are read as such, with all their digits; everything else is a text. */
export const textJson = (field: Field, text: string): string | Issue => {
  if (!isJson(field)) return isLiteral(field) ? literalJson(text) : JSON.stringify(text)
  try {
    JSON.parse(text)
    return text
  } catch {
    return violationIssue(field, new Violation('json_parsing', text))
  }
}
