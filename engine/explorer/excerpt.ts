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
  const found = texts.map(() => [] as [number, number][])
  if (q === '') return found
  const literal = q.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  let start = 0
  const places = texts.map((text) => {
    const place = start
    if (text !== null) start += text.length + 1
    return place
  })
  const all = texts.filter((text) => text !== null).join(' ')
  let left = maxMatches
  for (const match of all.matchAll(new RegExp(literal, 'giu'))) {
    for (const [n, text] of texts.entries()) {
      const place = places[n] ?? 0
      const from = Math.max(match.index, place) - place
      const to = Math.min(match.index + match[0].length, place + (text?.length ?? 0)) - place
      if (text !== null && from < to) found[n]?.push([from, to])
    }
    if (--left === 0) break
  }
  return found
}

export interface Excerpt {
  readonly text: string
  readonly ranges: Ranges
  /** Where it begins in the whole text, and how long that is. */
  readonly from: number
  readonly length: number
}

/** The length of an excerpt, and how much of it precedes the first match. */
const excerptLength = 2_000
const beforeMatch = 20

export const excerptOf = (text: string, ranges: Ranges): Excerpt => {
  const { length } = text
  if (length <= excerptLength) return { text, ranges, from: 0, length }
  const [first = [0, 0]] = ranges
  const from = first[1] <= excerptLength ? 0 : first[0] - beforeMatch
  // A copy: a slice would keep the whole text in memory.
  const copy = Buffer.from(cut(text, from, excerptLength)).toString()
  return { text: copy, ranges: ranges.map(([a, b]) => [a - from, b - from] as const), from, length }
}

export const marked = (text: string, ranges: Ranges, from: number, length: number): Html => {
  const parts: Part[] = []
  const end = from + length
  let done = from
  for (const [a, b] of ranges) {
    if (b <= done || a >= end) continue
    parts.push(
      cut(text, done, Math.max(0, a - done)),
      html`<mark>${cut(text, Math.max(a, done), Math.min(b, end) - Math.max(a, done))}</mark>`,
    )
    done = Math.min(b, end)
  }
  parts.push(cut(text, done, end - done))
  return html`${parts}`
}
