/** How many rows and bytes are read at once, so that a download or a page of many megabytes is never in memory as a whole. */
import { spreadOverTicks } from '../process/batchPerTick.js'

/** A page of more bytes than this is sent in parts. */
export const largePageBytes = 4 * 1024 * 1024

/** A part ends when it has this many bytes; a client that does not read holds two of them. */
export const partBytes = 32 * 1024

/** The fewest and the most rows that a part is looked for in, and the most ids that are found at once. */
const [minPartRows, maxPartRows] = [50, 500]
export const maxIds = 2_048

/** Some of the rows that were asked for, each a line, and the ids of those that were not read. */
export interface Part {
  readonly lines: Buffer
  readonly left: readonly string[]
}

/** All clients share it: the parts of hundreds of them would otherwise arrive in one tick. */
const turn = spreadOverTicks()

/** The rows; each part is read when the client has received the previous one. Rows that were deleted since are left out. */
export async function* rowsInParts(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<Part>,
): AsyncGenerator<Buffer> {
  let size = minPartRows
  for (let rest: readonly string[] = [...new Set(ids)]; rest.length > 0; ) {
    await turn()
    const asked = rest.slice(0, size)
    const { lines, left } = await read(asked)
    if (lines.length > 0) yield lines
    const unread = new Set(left)
    rest = [...asked.filter((id) => unread.has(id)), ...rest.slice(size)]
    // The next part has about as many.
    size = Math.min(maxPartRows, Math.max(minPartRows, 2 * (asked.length - left.length)))
  }
}

const [lineFeed, comma] = [...Buffer.from('\n,')] as [number, number]

/** Lines as the elements of a JSON array; JSON itself has no line feeds. */
const asElements = (lines: Buffer): Buffer => {
  for (let at = lines.indexOf(lineFeed); at !== -1; at = lines.indexOf(lineFeed, at)) lines[at] = comma
  return lines.subarray(0, -1)
}

/** The body of a page that is too large to be read at once. */
export async function* largePageBody(
  [head, tail]: readonly [string, string],
  rows: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let separator = head
  for await (const lines of rows) {
    yield Buffer.concat([Buffer.from(separator), asElements(lines)])
    separator = ','
  }
  yield Buffer.from(separator === head ? head + tail : tail)
}
