/** Reads the form of a row that was posted: the body of the write that it means, and what is wrong with it. */
import type { Issue } from '../contract/errors.js'
import { bodyIssue } from '../contract/issues.js'
import { textJson } from '../contract/textValues.js'
import { isText } from '../descriptor/kinds/index.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { type Field, idField, parseId, type Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { controlText, type FormView, isSameText, meantText, postedId, postedText } from './controlTexts.js'
import { referencedResource } from './names.js'
import type { Visitor } from './page.js'
import { countRows } from './rows.js'

/** The id of the row that a text names, as JSON: its id, or its name if no other has it. */
const referenceJson = async (
  storage: Storage,
  target: Resource,
  field: Field,
  text: string,
): Promise<string | Issue> => {
  const explicit = postedId(text)
  const id = parseId(target, explicit ?? text)
  const isId = explicit !== undefined || !isText(idField(target))
  if (id !== undefined && (isId || (await storage.table(target).get(id)))) return textJson(field, id)
  const { total, first } = await countRows(storage, target, { ...defaultListQuery, search: text })
  if (total === 1 && first !== undefined) return textJson(field, first)
  const matches = total === 0 ? 'none' : 'several'
  const msg = `${field.name} must be one ${target.name.toLowerCase()}; ${matches} match ${field.redacted ? 'what you have typed' : `“${text}”`}.`
  return bodyIssue('reference', msg, field.name)
}

type Reader = Pick<Visitor, 'registry' | 'storage'>

/** The value of a control as JSON, or what is wrong with it. */
export const readControl = async (
  { registry, storage }: Reader,
  field: Field,
  text: string,
): Promise<string | Issue> => {
  if (text === '') return 'null'
  const target = referencedResource(registry, field)
  return target ? referenceJson(storage, target, field, text.trim()) : textJson(field, meantText(field, text))
}

/** The values of a form as JSON: of a new row those that are not empty, of another one those that differ from it. */
export const readRowForm = async (
  visitor: Reader,
  fields: readonly Field[],
  { row, labels, posted }: FormView,
): Promise<{ readonly source: string; readonly issues: readonly Issue[] }> => {
  const members: string[] = []
  const issues: Issue[] = []
  for (const field of fields) {
    const { name } = field
    const text = posted && postedText(posted, name)
    const stored = row?.[name] ?? null
    if (text === undefined || isSameText(field, text, controlText(field, stored))) continue
    const target = referencedResource(visitor.registry, field)
    if (target && stored !== null && [`#${stored}`, labels(target, stored)].includes(text)) continue
    const value = await readControl(visitor, field, text)
    if (typeof value === 'string') members.push(`${JSON.stringify(name)}:${value}`)
    else issues.push(value)
  }
  return { source: `{${members.join(',')}}`, issues }
}
