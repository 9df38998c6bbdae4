/** Reads rows by their ids in parts, so that a download or a page of many megabytes is never in memory as a whole. */
import type { Position } from '../descriptor/listQuery.js'
import { spreadOverTicks } from '../process/batchPerTick.js'

/** A page of more bytes than this is sent in parts. */
export const largePageBytes = 4 * 1024 * 1024

/** A part ends when it has this many bytes; a client that does not read holds two of them. */
export const partBytes = 32 * 1024

/** The most rows of a part, and the most ids that are found at once. */
const maxPartRows = 500
export const maxIds = 2_048

/** Some of the rows that were asked for, each a line. */
export interface Part {
  readonly rows: Uint8Array
  /** The id of the last one; undefined if these are all. */
  readonly last: bigint | undefined
}

export interface FoundIds {
  readonly ids: BigInt64Array
  /** The position after which to look for more; undefined at the end. */
  readonly last: Position | undefined
}

/** A page that is too large to be read at once: the ids of its rows, and the JSON after them. */
export interface LargePage {
  readonly ids: BigInt64Array
  readonly tail: string
  readonly next: Position | undefined
}

export const pageHead = '{"data":['

/** All clients share it: the parts of hundreds of them would otherwise arrive in one tick. */
export const turn = spreadOverTicks()

/** The rows; each part is read when the client has received the previous one. Rows that were deleted since are left out. */
export async function* rowsInParts(
  ids: BigInt64Array,
  read: (ids: BigInt64Array) => Promise<Part>,
): AsyncGenerator<Uint8Array> {
  for (let left = ids; left.length > 0; ) {
    await turn()
    const { rows, last } = await read(left.slice(0, maxPartRows))
    if (rows.length > 0) yield rows
    left = left.subarray(last === undefined ? maxPartRows : left.indexOf(last) + 1)
  }
}

const [lineFeed, comma] = [...Buffer.from('\n,')] as [number, number]

/** Lines as the elements of a JSON array; JSON itself has no line feeds. */
export const asElements = (lines: Uint8Array): Uint8Array => {
  for (let at = lines.indexOf(lineFeed); at !== -1; at = lines.indexOf(lineFeed, at)) lines[at] = comma
  return lines.subarray(0, -1)
}

export async function* largePageBody(
  { ids, tail }: LargePage,
  read: (ids: BigInt64Array) => Promise<Part>,
): AsyncGenerator<Uint8Array> {
  let separator = pageHead
  for await (const lines of rowsInParts(ids, read)) {
    yield Buffer.concat([Buffer.from(separator), asElements(lines)])
    separator = ','
  }
  yield Buffer.from(separator === pageHead ? `${pageHead}${tail}` : tail)
}
