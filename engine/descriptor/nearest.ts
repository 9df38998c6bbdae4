/** Suggestions for mistyped names. */

/** The Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbouring letters. */
export const editDistance = (a: string, b: string): number => {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let best = Math.min(change, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) best = Math.min(best, (before[j - 2] ?? 0) + 1)
      row.push(best)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  // The distance takes time quadratic in the length, and clients choose the names of body properties.
  if (word.length > 100) return undefined
  const most = Math.max(2, Math.floor(word.length / 3))
  const distances = candidates.map((name) => editDistance(word.toLowerCase(), name.toLowerCase()))
  const least = Math.min(...distances)
  return least <= most ? candidates[distances.indexOf(least)] : undefined
}

/** A suggestion to append to a message without its full stop; empty if no candidate is similar. */
export const didYouMean = (word: string, candidates: readonly string[]): string => {
  const suggestion = nearest(word, candidates)
  return suggestion === undefined ? '' : `. Did you mean "${suggestion}"?`
}
