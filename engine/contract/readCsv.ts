/**
 * Reads CSV (RFC 4180) row by row. By hand, because an import reports every row that is wrong with the line in which it begins, goes on
 * after it, and reads an empty cell and an empty text differently.
 */

export interface CsvCell {
  readonly text: string
  readonly isQuoted: boolean
}

export interface CsvRow {
  /** The line in which it begins, from 1. */
  readonly line: number
  readonly cells: readonly CsvCell[]
  /** What is wrong with it, to complete the sentence "The row has …". */
  readonly error?: string
}

/** No name of a column is longer. */
const maxNameLength = 64 * 1024

/** The first of these characters in the first line separates cells. */
export const delimiterIn = (text: string): string => {
  let isQuoted = false
  for (const sign of text.slice(0, maxNameLength)) {
    if (sign === '"') isQuoted = !isQuoted
    else if (!isQuoted && ',;\t'.includes(sign)) return sign
    else if (!isQuoted && sign === '\n') break
  }
  return ','
}

/** The longest cell, and the most cells of a row; what is longer is not read. */
const [maxCellLength, maxCells] = [2 * 1024 * 1024, 10_000]

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

const [lineFeed, carriageReturn, quote] = [...Buffer.from('\n\r"')]

/** By character, as everything that may be there millions of times: an array of 16 million lines takes a second. */
export const countLines = (text: string): number => {
  let count = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === lineFeed) count++
  return count
}

/** The cell that begins with a quote, and where it ends; undefined if the quote is never closed. */
const quotedCell = (text: string, begin: number): { cell: string; end: number } | undefined => {
  for (let at = begin + 1; at < text.length && at - begin <= maxCellLength; at++) {
    if (text.charCodeAt(at) !== quote) continue
    // A replacement of a million quotes takes five times as long.
    if (text.charCodeAt(at + 1) !== quote)
      return {
        cell: text
          .slice(begin + 1, at)
          .split('""')
          .join('"'),
        end: at + 1,
      }
    at++
  }
  return undefined
}

/** Where the blank lines at a place end, and how many there are. */
const skipBlankLines = (text: string, from: number): { at: number; lines: number } => {
  for (let [at, lines] = [from, 0]; ; lines++) {
    const code = text.charCodeAt(at)
    if (code === lineFeed) at++
    else if (code === carriageReturn && text.charCodeAt(at + 1) === lineFeed) at += 2
    else return { at, lines }
  }
}

/** The rows of a text that begins in a line; blank lines are left out. */
export function* readCsv(text: string, delimiter: string, firstLine = 1): Generator<CsvRow> {
  const plain = new RegExp(`[^${delimiter}"\n]*`, 'y')
  for (let [at, line] = [0, firstLine]; at < text.length; ) {
    const blank = skipBlankLines(text, at)
    at = blank.at
    line += blank.lines
    if (at === text.length) return
    const cells: CsvCell[] = []
    const begins = line
    let error: string | undefined
    for (let isOpen = true; isOpen; ) {
      const quoted = text[at] === '"' ? quotedCell(text, at) : undefined
      if (quoted) {
        cells.push({ text: quoted.cell, isQuoted: true })
        line += countLines(quoted.cell)
        at = quoted.end
        if (text[at] === '\r' && endOfLine(text, at) === at + 1) at++
      } else if (text[at] === '"') {
        error = 'a quote that is not closed, or a cell of more than 2 MB'
        at = text.length
      } else {
        plain.lastIndex = at
        const [cell = ''] = plain.exec(text) ?? []
        at += cell.length
        const isLast = text[at] === '\n' || at === text.length
        cells.push({ text: isLast ? cell.replace(/\r$/, '') : cell, isQuoted: false })
      }
      isOpen = text[at] === delimiter
      if (isOpen && cells.length === maxCells) {
        error = `more than ${maxCells} cells`
        isOpen = false
        at = endOfLine(text, at)
      } else if (!isOpen && text[at] !== '\n' && at < text.length) {
        error = quoted ? 'text after a closing quote' : 'a quote inside a cell that does not begin with one'
        at = endOfLine(text, at)
      }
      // The delimiter, or the end of the line.
      at++
    }
    line++
    const isBlank = cells.length === 1 && cells[0]?.text === '' && !cells[0].isQuoted
    if (error !== undefined) yield { line: begins, cells, error }
    else if (!isBlank) yield { line: begins, cells }
  }
}
