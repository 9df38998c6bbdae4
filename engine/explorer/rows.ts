/** Reads rows for pages: one by its address, or those of a list one after another, so that many megabytes are never in memory as a whole. */
import { rowNotFound } from '../contract/errors.js'
import { itemIdParser, itemIdSchema } from '../contract/parameters.js'
import type { Resource, RowValues } from '../descriptor/registry.js'
import type { CachedBody, Storage, StreamedBody } from '../storage/storage.js'

/** Finds the row that a segment of an address names. */
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

const [quote, backslash, open, close] = [...Buffer.from('"\\{}')] as [number, number, number, number]

/** The source of each flat JSON object in a stream, from the first that follows the given depth. */
async function* objectsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pieces: Uint8Array[] = []
  let depth = 0
  let isText = false
  let isEscaped = false
  for await (const chunk of body) {
    let from = 0
    for (let n = 0; n < chunk.length; n++) {
      const byte = chunk[n]
      if (isEscaped) isEscaped = false
      else if (isText) {
        if (byte === backslash) isEscaped = true
        else if (byte === quote) isText = false
      } else if (byte === quote) isText = true
      else if (byte === open && ++depth === 2) from = n
      else if (byte === close && --depth === 1) {
        pieces.push(chunk.subarray(from, n + 1))
        yield Buffer.concat(pieces).toString()
        pieces = []
      }
    }
    if (depth === 2) pieces.push(chunk.subarray(from))
  }
}

/** Calls back with each row, and returns the total. */
export const eachRow = async (page: CachedBody | StreamedBody, take: (row: RowValues) => unknown): Promise<number> => {
  if ('tag' in page) {
    const { data, meta } = JSON.parse(String(page.body)) as { data: RowValues[]; meta: { total: number } }
    for (const row of data) take(row)
    return meta.total
  }
  let last: RowValues = {}
  let isFirst = true
  for await (const source of objectsIn(page.body)) {
    if (!isFirst) take(last)
    isFirst = false
    last = JSON.parse(source) as RowValues
  }
  // The last object is the page's meta.
  return Number(last['total'])
}
