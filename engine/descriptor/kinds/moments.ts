/** What days and times have in common. */

export const dayMs = 86_400_000

export const dateGlob = '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'

/** A time in UTC; empty beyond those that JavaScript has. */
export const momentText = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

export const nthDay = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n)).toISOString()

/** A week later in each row, and a day later in each later field, so that a start precedes its end. */
export const demoMoment = (n: number, index: number): string =>
  new Date(Date.UTC(2026, 0, 5, 9) + ((n - 1) * 7 + index) * dayMs).toISOString()
