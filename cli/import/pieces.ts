/** Reads a file of rows in pieces of whole rows, so that it is never in memory as a whole. */
import { createReadStream } from 'node:fs'
import type { ImportType } from '../../engine/contract/importRows.js'
import { CommandError } from '../../support/options.js'

const pieceBytes = 1024 * 1024

/** A row is no longer than this; a quote that is never closed would make one of the rest of the file. */
const maxRowBytes = 64 * pieceBytes

const [quote, lineFeed, comma, backslash] = [...Buffer.from('"\n,\\')] as [number, number, number, number]
const [opening, closing] = [Buffer.from('[{'), Buffer.from(']}')]

/** The comma after the last but one element of a JSON array: after the last, the array may end, which is an error that its reader finds. */
const endOfElements = (bytes: Buffer): number => {
  let [level, last, end] = [0, 0, 0]
  let isQuoted = false
  for (let at = 0; at < bytes.length; at++) {
    const sign = bytes[at] as number
    if (sign === quote) isQuoted = !isQuoted
    else if (isQuoted) at += sign === backslash ? 1 : 0
    else if (opening.includes(sign)) level++
    else if (closing.includes(sign)) level--
    else if (sign === comma && level === 1) {
      end = last
      last = at
    }
  }
  return end
}

/** Where the last row of some bytes ends: after a line feed that is not within quotes, or at a comma of an array. */
const endOfRows = (bytes: Buffer, type: ImportType): number => {
  if (type === 'application/json') return endOfElements(bytes)
  if (type !== 'text/csv') return bytes.lastIndexOf(lineFeed) + 1
  let end = 0
  let isQuoted = false
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) isQuoted = !isQuoted
    else if (bytes[at] === lineFeed && !isQuoted) end = at + 1
  }
  return end
}

/** About how many rows a file has: as many as lines, of which some texts have more than one. */
export const countFileRows = async (file: string, type: ImportType): Promise<number> => {
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
    const end = rest.length < pieceBytes ? 0 : endOfRows(rest, type)
    if (end === 0 && rest.length > maxRowBytes)
      throw new CommandError(`A row has more than ${maxRowBytes} bytes; a quote may not be closed.`)
    if (end === 0) continue
    const isArray = type === 'application/json'
    // Each piece is an array.
    yield isArray ? Buffer.concat([rest.subarray(0, end), Buffer.from(']')]) : rest.subarray(0, end)
    rest = isArray ? Buffer.concat([Buffer.from('['), rest.subarray(end + 1)]) : Buffer.from(rest.subarray(end))
  }
  if (rest.length > 0) yield rest
}
