/** Random choices that can be repeated: the same seed makes the same choices. */
import { integer, type Option } from '../support/options.js'

export interface Random {
  /** A whole number from 0 to just below the limit. */
  below(limit: number): number
  /** True in this share of cases. */
  chance(share: number): boolean
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T
}

/** A seed for whoever gives none. */
export const anySeed = (): number => Math.floor(Math.random() * 2 ** 31)

/** The option `--seed` of a stress test. */
export const seedOption = (): Option<number> =>
  integer('the seed of the random choices', anySeed(), { min: 0, max: 2 ** 31, shownDefault: 'a random one' })

/** Chance from a seed: Mulberry32, which is small, and even enough to choose by. */
export const randomOf = (seed: number): Random => {
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
