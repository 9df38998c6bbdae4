/** Reads a form that a browser without JavaScript has sent: the body of the write that the script would have sent. */
import { bodyInvalid } from '../contract/errors.js'
import { bodyIssue } from '../contract/issues.js'
import { parseId } from '../descriptor/ids.js'
import { kindOf } from '../descriptor/kinds/index.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import {
  type Field,
  type Registry,
  type Resource,
  type RowValues,
  updatableFields,
  writableFields,
} from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { controlValue } from './controls.js'
import { readLabels, referencedResource } from './names.js'
import { countRows } from './rows.js'

const literal = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** The JSON of what was typed; the API refuses what is no value of the field. */
const typedJson = ({ kind }: Field, typed: string): string => {
  const text = typed.trim()
  const { input } = kindOf(kind)
  if (input === 'datetime-local') return JSON.stringify(`${text.padEnd(19, ':00')}Z`)
  const isJson = (() => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  })()
  if (input === 'textarea' && isJson) return text
  return (input === 'number' || input === 'checkbox') && literal.test(text) ? text : JSON.stringify(typed)
}

/** The values that were sent, as JSON: of a new row those that are not empty, of another one those that differ from it. */
export const plainFormBody = async (
  { registry, storage }: { readonly registry: Registry; readonly storage: Storage },
  resource: Resource,
  sent: URLSearchParams,
  row?: RowValues,
): Promise<string> => {
  const fields = row ? updatableFields(resource) : writableFields(resource)
  const labels = row && (await readLabels({ registry, storage }, fields, ({ name }) => [row[name]]))
  const members: string[] = []
  for (const field of fields) {
    const { name } = field
    const target = referencedResource(registry, field)
    const isBox = kindOf(field.kind).input === 'checkbox' && field.required && !field.oneOf
    // Browsers end lines with CRLF.
    const typed = isBox ? String(sent.has(name)) : (sent.get(name) ?? '').replaceAll('\r\n', '\n')
    const before = row ? controlValue(field, row[name] ?? null).replaceAll('\r\n', '\n') : isBox ? undefined : ''
    if (typed === before || (target && row && typed === labels?.(target, row[name]))) continue
    const value = target && typed !== '' ? await rowNamed(storage, target, field, typed.trim()) : typed
    members.push(`${JSON.stringify(name)}:${value === '' ? 'null' : typedJson(field, value)}`)
  }
  return `{${members.join(',')}}`
}

/** The id of the row that a text names: its id, or its name if no other has it. */
const rowNamed = async (storage: Storage, target: Resource, { name }: Field, text: string): Promise<string> => {
  const id = parseId(target, text)
  if (id !== undefined && (await storage.table(target).get(id))) return id
  const { total, first } = await countRows(storage, target, { ...defaultListQuery, search: text })
  if (total === 1 && first !== undefined) return first
  const found = total === 0 ? 'none' : 'several'
  throw bodyInvalid([
    bodyIssue('reference', `${name} must be one ${target.name.toLowerCase()}; ${found} match “${text}”.`, name),
  ])
}
