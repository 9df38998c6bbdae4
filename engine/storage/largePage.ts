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

/** Rows are read together up to this many bytes; a larger one is read by itself. */
const partSize = 1024 * 1024

/** The page's bytes; each part is read when the client has received the previous one. */
export async function* largePageBody(
  { rows, tail }: LargePage,
  read: (ids: readonly bigint[]) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let separator = pageHead
  let part: bigint[] = []
  let size = 0
  for (const [index, { id, bytes }] of rows.entries()) {
    part.push(id)
    size += bytes
    const next = rows[index + 1]
    if (next && size + next.bytes <= partSize) continue
    const json = await read(part)
    part = []
    size = 0
    // Rows that another program has deleted since are left out.
    if (json.length === 0) continue
    yield Buffer.concat([Buffer.from(separator), json])
    separator = ','
  }
  yield Buffer.from(separator === pageHead ? `${pageHead}${tail}` : tail)
}
