/** Reads rows for pages: one by its address, or those of a list one after another, so that many megabytes are never in memory as a whole. */
import { rowNotFound } from '../contract/errors.js'
import { itemIdParser, itemIdSchema } from '../contract/parameters.js'
import type { Resource, RowValues } from '../descriptor/registry.js'
import { pageHead } from '../storage/parts.js'
import type { CachedBody, Storage, StreamedBody } from '../storage/storage.js'

export type RowFinder = (segment: string) => Promise<{ id: number; tag: string; row: RowValues }>

export const rowFinder = (storage: Storage, resource: Resource): RowFinder => {
  const parseId = itemIdParser(itemIdSchema('', ''))
  return async (segment) => {
    const { id, text } = parseId(segment)
    const found = id === undefined ? undefined : await storage.table(resource).get(id)
    if (id === undefined || !found) throw rowNotFound(resource.name, text)
    return { id, tag: found.tag, row: JSON.parse(String(found.body)) as RowValues }
  }
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
