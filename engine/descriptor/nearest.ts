/** Suggestions for mistyped names. */

/** The Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbouring letters. */
export const editDistance = (a: string, b: string): number => {
  // Typed arrays take a fifth of the time of others.
  let before = new Uint32Array(b.length + 1)
  let last = Uint32Array.from(before, (_, j) => j)
  let row = new Uint32Array(b.length + 1)
  for (let i = 1; i <= a.length; i++) {
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] as number) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1)
      let best = Math.min(change, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      if (j > 1 && i > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1))
        best = Math.min(best, (before[j - 2] as number) + 1)
      row[j] = best
    }
    ;[before, last, row] = [last, row, before]
  }
  return last[b.length] as number
}

export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  // The distance takes time quadratic in the length, and clients choose the names of body properties.
  if (word.length > 100) return undefined
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  let best: string | undefined
  const lower = word.toLowerCase()
  for (const candidate of candidates) {
    const other = candidate.toLowerCase()
    // No distance is less than the difference of the lengths: a body may have 100 unknown names, and a resource as many fields.
    const distance = Math.abs(other.length - lower.length) < least ? editDistance(lower, other) : least
    if (distance >= least) continue
    least = distance
    best = candidate
  }
  return best
}

/** A suggestion to append to a message without its full stop; empty if no candidate is similar. */
export const didYouMean = (word: string, candidates: readonly string[]): string => {
  const suggestion = nearest(word, candidates)
  return suggestion === undefined ? '' : `. Did you mean "${suggestion}"?`
}

/** What to write instead of a path that no resource has: the path of the table with this name, or a similar path. */
export const pathHint = (
  name: string,
  targets: readonly { readonly path: string; readonly table: string | undefined }[],
): string => {
  const paths = targets.map(({ path }) => path)
  const owner = targets.find(({ table }) => table === name)
  if (owner) return `; that is a table, and its path is "${owner.path}"`
  if (paths.length === 0) return ''
  return didYouMean(name, paths) || `; the resources are ${paths.join(', ')}`
}
