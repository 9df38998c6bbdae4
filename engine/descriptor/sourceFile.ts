/** The text of a resource or seed file, in which the properties that a message is about can be found. */
import { descriptorLiteral, type Entry, jsonLiteral, type Literal } from './literal.js'

export interface SourceFile {
  readonly text: string
  /** Undefined if the file has no literal that could be found. */
  readonly literal: Literal | undefined
}

/** The path of a property in a literal: `['fields', 'days', 'filter']`, or `[2, 'days']` in demo rows. */
export type Place = readonly (string | number)[]

/** A part of a source line; line and column count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
  readonly length: number
  /** The whole line. */
  readonly text: string
}

/** The source of a resource file. */
export const resourceSource = (text: string): SourceFile => ({ text, literal: descriptorLiteral(text) })

/** The source of a seed file; only a problem needs its literal, which takes 70 ms for all demo rows. */
export const seedSource = (text: string): SourceFile => {
  let literal: Literal | undefined
  return {
    text,
    get literal() {
      literal ??= jsonLiteral(text)
      return literal
    },
  }
}

/** The position of a part of the text, which ends with its first line. */
export const positionBetween = ({ text }: SourceFile, start: number, end: number): Position => {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const [line = ''] = text.slice(lineStart).split(/\r?\n/, 1)
  const column = start - lineStart + 1
  const length = Math.max(1, Math.min(end - start, line.length - column + 1))
  return { line: text.slice(0, lineStart).split('\n').length, column, length, text: line }
}

/** The entries on the path to a place, as far as they exist. If a key occurs twice, the last one counts. */
const entriesTo = ({ literal }: SourceFile, place: Place): Entry[] => {
  const found: Entry[] = []
  for (const key of place) {
    const { entries } = found.at(-1)?.value ?? literal ?? { entries: [] }
    const entry = entries.findLast((one) => one.key === String(key))
    if (!entry) break
    found.push(entry)
  }
  return found
}

/** The position of a property, or of the nearest one that surrounds it. */
export const placePosition = (source: SourceFile, place: Place): Position | undefined => {
  const entry = entriesTo(source, place).at(-1)
  return entry && positionBetween(source, entry.start, entry.end)
}

/** A value as it is written in the file: JavaScript rounds `9007199254740993`. */
export const textAt = (source: SourceFile, place: Place): string | undefined => {
  const entries = entriesTo(source, place)
  const value = entries.length === place.length ? entries.at(-1)?.value : undefined
  return value && source.text.slice(value.start, value.end)
}

/** The properties that occur twice, each with the line of the first. */
export const duplicatesIn = (source: SourceFile): { place: Place; firstLine: number }[] => {
  const search = ({ entries }: Literal, above: Place): { place: Place; firstLine: number }[] => {
    const first = new Map<string, number>()
    return entries.flatMap(({ key, start, value }) => {
      const place = [...above, key]
      const earlier = first.get(key)
      first.set(key, earlier ?? start)
      const inside = value.entries.length > 0 ? search(value, place) : []
      if (earlier === undefined) return inside
      return [{ place, firstLine: positionBetween(source, earlier, earlier).line }, ...inside]
    })
  }
  return source.literal ? search(source.literal, []) : []
}
