/** Order statistics of measurements. */

const at = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0

export const median = (numbers: readonly number[]): number => at(numbers, 0.5)

export const p99 = (numbers: readonly number[]): number => at(numbers, 0.99)
