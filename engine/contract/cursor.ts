/** The value of `after`: where a page begins, how many rows are before it, and which list it continues. */
import { createHash } from 'node:crypto'
import { parseId } from '../descriptor/ids.js'
import { kindOf } from '../descriptor/kinds/index.js'
import { type ListQuery, type Position, type Selection, selectionKey } from '../descriptor/listQuery.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { isStorable, Violation } from '../descriptor/violations.js'

const digest = ({ path }: Resource, selection: Selection): string =>
  createHash('sha256')
    .update(`${path}?${selectionKey(selection)}`)
    .digest('base64url')
    .slice(0, 10)

/** Clients must not rely on what is in it. */
export const encodeCursor = (resource: Resource, query: ListQuery, { id, value }: Position): string => {
  const offset = query.page.offset + BigInt(query.page.limit)
  const parts = [digest(resource, query), String(offset), String(id), value === null ? null : String(value)]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

const isDigits = (text: unknown): text is string => typeof text === 'string' && /^\d{1,40}$/.test(text)

const parse = (cursor: string): unknown => {
  try {
    const bytes = Buffer.from(cursor, 'base64url')
    // Buffer.from() ignores what is not base64.
    return bytes.toString('base64url') === cursor ? JSON.parse(bytes.toString()) : undefined
  } catch {
    return undefined
  }
}

export const decodeCursor = (resource: Resource, selection: Selection, cursor: string) => {
  const parts = parse(cursor)
  if (!Array.isArray(parts) || parts.length !== 4) return 'invalid'
  const [list, offset, id, text] = parts as unknown[]
  if (!isDigits(offset) || typeof id !== 'string' || parseId(resource, id) !== id) return 'invalid'
  if (list !== digest(resource, selection)) return 'otherList'
  if (text !== null && typeof text !== 'string') return 'invalid'
  const field = resource.fields.find(({ name }) => name === selection.order.field) as Field
  const value = text === null ? null : kindOf(field.kind).parse(text, field)
  const isStored = value === null || typeof value !== 'string' || isStorable(value)
  return value instanceof Violation || !isStored ? 'invalid' : { offset: BigInt(offset), after: { id, value } }
}
