/** Reads rows for pages: one by its address, those of a list one after another, so that many megabytes are never in memory as a whole, or groups of them. */
import { rowNotFound } from '../contract/errors.js'
import { itemIdParser } from '../contract/parameters.js'
import { JsonText, memberTexts } from '../descriptor/jsonText.js'
import { isJson } from '../descriptor/kinds/index.js'
import type { ListQuery } from '../descriptor/listQuery.js'
import type { Resource, RowValues, Value } from '../descriptor/registry.js'
import type { Aggregate, SummaryQuery } from '../descriptor/summary.js'
import type { CachedBody, Caller, Storage, StreamedBody, Table } from '../storage/storage.js'

const pageHead = '{"data":['

export const findRow = async (storage: Storage, resource: Resource, segment: string) => {
  const { id, text } = itemIdParser(resource)(segment)
  const stored = id === undefined ? undefined : await storage.table(resource).get(id)
  if (id === undefined || !stored) throw rowNotFound(resource.name, text)
  const source = String(stored.body)
  const row = JSON.parse(source) as RowValues
  // As the service has it: a form must not change what nobody has edited.
  const names = resource.fields.filter((field) => isJson(field) && row[field.name] !== null).map(({ name }) => name)
  const texts = names.length > 0 ? memberTexts(source) : undefined
  for (const name of names) row[name] = new JsonText(texts?.get(name) ?? 'null')
  return { id, tag: stored.tag, row }
}

export const eachRow = async (page: CachedBody | StreamedBody, take: (row: RowValues) => unknown): Promise<number> => {
  let total = 0
  for await (const part of 'tag' in page ? [page.body] : page.body) {
    const text = Buffer.from(part).toString()
    const isEnd = text.endsWith('}}')
    const source = `${text.startsWith(pageHead) ? '' : pageHead}${text.replace(/^,/, '')}${isEnd ? '' : ']}'}`
    const { data, meta } = JSON.parse(source) as { data: RowValues[]; meta?: { total: number } }
    for (const row of data) take(row)
    total = meta?.total ?? 0
  }
  return total
}

export const countRows = async (storage: Storage, resource: Resource, query: ListQuery, caller?: Caller) => {
  let first: string | undefined
  const page = await storage.table(resource).list({ ...query, page: { limit: 1, offset: 0n } }, caller)
  const total = await eachRow(page, (row) => {
    first = String(row['id'])
  })
  return { total, first }
}

/** What is computed of rows. */
export type Computed = Partial<Record<Aggregate, Readonly<Record<string, Value>>>>

export interface GroupOfRows extends Computed {
  readonly by: Readonly<Record<string, Value>>
  readonly count: number
}

interface Summary {
  readonly data: readonly GroupOfRows[]
  /** How many groups there are, and how many rows they have. */
  readonly meta: { readonly total: number; readonly rows: number }
}

export const readSummary = async (table: Table, query: SummaryQuery, caller: Caller): Promise<Summary> =>
  JSON.parse(String((await table.summary(query, caller)).body)) as Summary
