/** How many rows and bytes are read at once, so that a download or a page of many megabytes is never in memory as a whole. */
import { spreadOverTicks } from '../process/batchPerTick.js'

/** A page of more bytes than this is sent in parts. */
export const largePageBytes = 4 * 1024 * 1024

/** A part ends when it has this many bytes; a client that does not read holds one. */
export const partBytes = 32 * 1024

/** The fewest and the most rows that a part is looked for in, and the most ids that are found at once. */
const [minPartRows, maxPartRows] = [50, 500]
export const maxIds = 2_048

/** Some of the rows that were asked for, each a line, and the ids of those that were not read. */
export interface RowsPart {
  readonly lines: Buffer
  readonly left: readonly string[]
}

type ReadPart = (ids: readonly string[]) => Promise<RowsPart>

/** A list of ids as the database returns it. */
export const toIds = (json: unknown): string[] => JSON.parse(String(json ?? '[]')) ?? []

/** Ids as texts of some each: hundreds of downloads may wait for their clients, and a list of 2,048 ids takes 0.1 MB. */
const idTexts = (json: string): string[] => {
  const ids = [...new Set(toIds(json))]
  const texts: string[] = []
  for (let at = 0; at < ids.length; at += minPartRows) texts.push(JSON.stringify(ids.slice(at, at + minPartRows)))
  return texts
}

/** All clients share it: the parts of hundreds of them would otherwise arrive in one tick. */
const turn = spreadOverTicks()

/** Reads the next rows of some ids, which wait as JSON, and tells how many of these texts the next part is looked for in. */
const readNext = async (waiting: string[], count: number, read: ReadPart): Promise<{ lines: Buffer; next: number }> => {
  const asked = waiting.splice(0, count).flatMap(toIds)
  const { lines, left } = await read(asked)
  const unread = new Set(left)
  if (left.length > 0) waiting.unshift(JSON.stringify(asked.filter((id) => unread.has(id))))
  // The next part has about as many.
  const rows = Math.min(maxPartRows, 2 * (asked.length - left.length))
  return { lines, next: Math.max(1, Math.floor(rows / minPartRows)) }
}

/**
 * The rows of some ids, which are given as JSON; each part is read when the client has received the previous one. Rows that were
 * deleted since are left out.
 */
export async function* rowsInParts(json: string, read: ReadPart): AsyncGenerator<Buffer> {
  const waiting = idTexts(json)
  for (let count = 1; waiting.length > 0; ) {
    await turn()
    const { lines, next } = await readNext(waiting, count, read)
    if (lines.length > 0) yield lines
    count = next
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
