/** Excerpts of long texts, and the matches of a search in them. */
import { type Html, html, type Part } from './html.js'

/** A part of a text that never splits a character. */
export const cut = (text: string, from: number, length: number): string => {
  const part = text.slice(from, from + length)
  return part.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '')
}

type Ranges = readonly (readonly [from: number, to: number])[]

const maxMatches = 200

/** The matches of `q` in the texts of a row, which are searched as one text with spaces between them. */
export const matchesIn = (texts: readonly (string | null)[], q: string): Ranges[] => {
  if (q === '') return texts.map(() => [])
  const literal = q.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  const joinedTexts = texts.filter((text) => text !== null).join(' ')
  const matches: { readonly index: number; readonly length: number }[] = []
  for (const { index, 0: match } of joinedTexts.matchAll(new RegExp(literal, 'giu'))) {
    if (matches.push({ index, length: match.length }) === maxMatches) break
  }
  let next = 0
  return texts.map((text) => {
    if (text === null) return []
    const place = next
    next += text.length + 1
    return matches.flatMap(({ index, length }) => {
      const from = Math.max(index, place) - place
      const to = Math.min(index + length, place + text.length) - place
      return from < to ? [[from, to] as const] : []
    })
  })
}

export interface Excerpt {
  readonly text: string
  readonly ranges: Ranges
  /** Where it begins in the whole text, and how long that is. */
  readonly from: number
  readonly length: number
}

export const isExcerpt = (value: unknown): value is Excerpt =>
  typeof value === 'object' && value !== null && 'ranges' in value

/** The length of an excerpt, and how much of it precedes the first match. */
const maxExcerpt = 2_000
const beforeMatch = 20

export const makeExcerpt = (text: string, ranges: Ranges): Excerpt => {
  const { length } = text
  if (length <= maxExcerpt) return { text, ranges, from: 0, length }
  const [first = [0, 0]] = ranges
  const from = first[1] <= maxExcerpt ? 0 : first[0] - beforeMatch
  // A copy: a slice would keep the whole text in memory.
  const copy = Buffer.from(cut(text, from, maxExcerpt)).toString()
  return { text: copy, ranges: ranges.map(([a, b]) => [a - from, b - from] as const), from, length }
}

export const marked = (text: string, ranges: Ranges, from: number, length: number): Html => {
  const end = from + length
  let done = from
  const parts = ranges.flatMap(([a, b]): Part[] => {
    if (b <= done || a >= end) return []
    const [before, start] = [done, Math.max(a, done)]
    done = Math.min(b, end)
    return [cut(text, before, start - before), html`<mark>${cut(text, start, done - start)}</mark>`]
  })
  return html`${parts}${cut(text, done, end - done)}`
}
