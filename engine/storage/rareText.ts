/**
 * Finds what of a text is rare in a table. A phrase of trigrams is looked up by stepping through the rows of each of them, so
 * one that is in every row (the EMP- of every code) makes a search as long as the table; the rest need not.
 */
import { fold } from './fold.js'

/** How many rows of a table are a sample of it: taking it holds up the others for some ten milliseconds, once. */
export const sampled = 100

/** Codes that count up have the same digits at regular distances, so rows are sampled at those of the golden ratio. */
export const irregular = (Math.sqrt(5) - 1) / 2

/** A trigram in this part of the sampled rows is common. */
const commonShare = 0.05

/** A text longer than this is looked for as a whole: a pattern to hold rows against would grow too long. */
const longest = 1_000

/** So many trigrams of a text leave few rows that have them all and yet not the text; each more is one more list to step through. */
const enough = 3

/** What a sample of a table's texts tells of the others. */
export interface Rarity {
  /** The longest part of a text without a common trigram; the whole of it where every part has one. */
  readonly partOf: (text: string) => string
  /** The trigrams of a text, of those an index has, that together leave the fewest rows; the rarest comes first. */
  readonly trigramsOf: (text: string, isUsable?: (trigram: string) => boolean) => readonly Trigram[]
}

export interface Trigram {
  readonly trigram: string
  /** The share of rows that have it. */
  readonly share: number
}

/** The trigrams of a text, folded, in their order. */
const foldedTrigrams = (text: string): string[] => {
  const letters = Array.from(fold(text))
  return letters.slice(2).map((letter, n) => `${letters[n]}${letters[n + 1]}${letter}`)
}

export const rarityIn = (sample: readonly string[]): Rarity => {
  const counts = new Map<string, number>()
  for (const text of sample) {
    for (const trigram of new Set(foldedTrigrams(text))) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  }
  const shareOf = (trigram: string): number => (counts.get(trigram) ?? 0) / Math.max(sample.length, 1)

  return {
    partOf(text) {
      if (text.length > longest) return text
      let best = { start: 0, length: 0 }
      let start = 0
      for (const [n, trigram] of [...foldedTrigrams(text), undefined].entries()) {
        if (trigram !== undefined && shareOf(trigram) < commonShare) continue
        if (n - start > best.length) best = { start, length: n - start }
        start = n + 1
      }
      if (best.length === 0) return text
      return Array.from(text)
        .slice(best.start, best.start + best.length + 2)
        .join('')
    },
    trigramsOf(text, isUsable = () => true) {
      const ranked = foldedTrigrams(text)
        .map((trigram, place) => ({ trigram, place, share: shareOf(trigram) }))
        .filter(({ trigram }) => isUsable(trigram))
        .sort((a, b) => a.share - b.share)
      const chosen: typeof ranked = []
      const choose = (isFit: (one: (typeof ranked)[number]) => boolean): void => {
        for (const one of ranked) {
          if (chosen.length === enough) return
          if (isFit(one) && chosen.every(({ trigram }) => trigram !== one.trigram)) chosen.push(one)
        }
      }
      // Of two that share two letters, the second leaves hardly fewer rows than the first alone.
      const isApart = ({ place }: (typeof ranked)[number]) => chosen.every((one) => Math.abs(one.place - place) > 1)
      choose((one) => one.share < commonShare && isApart(one))
      choose(() => true)
      return chosen
    },
  }
}
