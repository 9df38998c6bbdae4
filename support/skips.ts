/** The tests of this process that could not run, each with what would help. */

interface Skip {
  readonly suite: string
  readonly test: string
  readonly why: string
}

export const skips: Skip[] = []

/** One line for the tests of a suite that the same would help. */
export const skipLines = (): string[] => {
  const lines = new Map<string, Skip[]>()
  for (const skip of skips) {
    const key = `${skip.suite} ${skip.why}`
    lines.set(key, [...(lines.get(key) ?? []), skip])
  }
  return [...lines.values()].map((group) => {
    const [{ suite, test, why }] = group as [Skip]
    return `Skipped: ${suite}, ${group.length === 1 ? `"${test}"` : `${group.length} tests`}: ${why}`
  })
}
