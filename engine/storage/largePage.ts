/** Sends a page of many megabytes in parts, so that it is never in memory as a whole. */

/** A page of more bytes than this is read and sent in parts. */
export const largePage = 4 * 1024 * 1024

/** What every page begins with. */
export const pageHead = '{"data":['

/** A row of a large page, with its size in bytes. */
export interface SizedRow {
  readonly id: bigint
  readonly bytes: number
}

/** A page that is too large to be read at once: its rows, and the JSON after them. */
export interface LargePage {
  readonly rows: readonly SizedRow[]
  readonly tail: string
}

/** Rows are read together up to this many bytes. */
const partSize = 1024 * 1024

/** Groups rows into parts; a row that is larger is a part by itself. */
function* partsOf(rows: readonly SizedRow[]): Generator<bigint[]> {
  let part: bigint[] = []
  let size = 0
  for (const { id, bytes } of rows) {
    if (part.length > 0 && size + bytes > partSize) {
      yield part
      part = []
      size = 0
    }
    part.push(id)
    size += bytes
  }
  if (part.length > 0) yield part
}

/** The page's bytes; each part is read when the client has taken the one before. */
export async function* largePageBody(
  { rows, tail }: LargePage,
  read: (ids: readonly bigint[]) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let separator = pageHead
  for (const ids of partsOf(rows)) {
    const json = await read(ids)
    // Rows that another program has deleted meanwhile are left out.
    if (json.length === 0) continue
    yield Buffer.concat([Buffer.from(separator), json])
    separator = ','
  }
  yield Buffer.from(separator === pageHead ? `${pageHead}${tail}` : tail)
}
