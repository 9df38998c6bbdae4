/** Random choices from a seed: the same seed gives the same choices. */
import { integer, type Option } from './options.js'

export interface Random {
  /** An integer from 0 to limit - 1. */
  below(limit: number): number
  /** True with this probability. */
  chance(share: number): boolean
  /** An element of a non-empty list. */
  pick<T>(list: readonly T[]): T
}

const randomSeed = (): number => Math.floor(Math.random() * 2 ** 31)

/** The option `--seed` of a stress test. */
export const seedOption = (): Option<number> =>
  integer('seed of the random choices', randomSeed(), { min: 0, max: 2 ** 31, shownDefault: 'random' })

/** Mulberry32: short, and uniform enough for tests. */
export const seededRandom = (seed: number): Random => {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (share) => next() < share,
    pick: (list) => list[Math.floor(next() * list.length)] as never,
  }
}
