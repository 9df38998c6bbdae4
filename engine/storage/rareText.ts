/**
 * Finds the part of a text that is rare in a table. A phrase of trigrams is looked up by stepping through the rows of each
 * of them, so one that is in every row (the EMP- of every code) makes a search as long as the table; the rest need not.
 */
import { fold } from './fold.js'

/** A trigram in this part of the sampled rows is common. */
const commonShare = 0.05

/** A text longer than this is looked for as a whole: a pattern to hold rows against would grow too long. */
const longest = 1_000

const trigramsOf = (text: string): string[] => {
  const letters = Array.from(fold(text))
  return letters.slice(2).map((_, n) => letters.slice(n, n + 3).join(''))
}

/** The trigrams that many of the sampled texts have. */
export const commonTrigrams = (sample: readonly string[]): ReadonlySet<string> => {
  const counts = new Map<string, number>()
  for (const text of sample) {
    for (const trigram of new Set(trigramsOf(text))) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  }
  return new Set([...counts].filter(([, count]) => count >= sample.length * commonShare).map(([trigram]) => trigram))
}

/** The longest part of a text without a common trigram; the whole of it where every part has one. */
export const rarePart = (text: string, common: ReadonlySet<string>): string => {
  if (text.length > longest) return text
  const letters = Array.from(text)
  let best = { start: 0, length: 0 }
  let start = 0
  for (const [n, trigram] of [...trigramsOf(text), undefined].entries()) {
    if (trigram !== undefined && !common.has(trigram)) continue
    if (n - start > best.length) best = { start, length: n - start }
    start = n + 1
  }
  return best.length === 0 ? text : letters.slice(best.start, best.start + best.length + 2).join('')
}
