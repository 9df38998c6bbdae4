/** Reads a file of rows in pieces of whole rows, so that it is never in memory as a whole. */
import { createReadStream } from 'node:fs'
import type { ImportType } from '../../engine/contract/importRows.js'
import { CommandError } from '../../support/options.js'

const pieceBytes = 1024 * 1024

/** A row is no longer than this; a quote that is never closed would make one of the rest of the file. */
const maxRowBytes = 64 * pieceBytes

const [quote, lineFeed] = [...Buffer.from('"\n')] as [number, number]

/** Where the last row of some bytes ends: after a line feed that is not within quotes. */
const endOfRows = (bytes: Buffer, isCsv: boolean): number => {
  if (!isCsv) return bytes.lastIndexOf(lineFeed) + 1
  let end = 0
  let isQuoted = false
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) isQuoted = !isQuoted
    else if (bytes[at] === lineFeed && !isQuoted) end = at + 1
  }
  return end
}

/** About how many rows a file has: as many as lines, of which some texts have more than one. */
export const countRows = async (file: string, type: ImportType): Promise<number> => {
  let lines = 0
  for await (const block of createReadStream(file)) {
    for (let at = (block as Buffer).indexOf(lineFeed); at !== -1; at = (block as Buffer).indexOf(lineFeed, at + 1))
      lines++
  }
  return type === 'text/csv' ? lines - 1 : lines
}

export async function* readPieces(file: string, type: ImportType): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const block of createReadStream(file, { highWaterMark: pieceBytes })) {
    rest = Buffer.concat([rest, block as Buffer])
    // A JSON array is one row to the reader of pieces.
    if (type === 'application/json') continue
    const end = endOfRows(rest, type === 'text/csv')
    if (end === 0 && rest.length > maxRowBytes)
      throw new CommandError(`A row has more than ${maxRowBytes} bytes; a quote may not be closed.`)
    if (end === 0) continue
    yield rest.subarray(0, end)
    rest = Buffer.from(rest.subarray(end))
  }
  if (rest.length > 0) yield rest
}
