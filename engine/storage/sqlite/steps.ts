/** Finds the ids of a page and counts all matches in steps, so that a deadline can end the search. */
import type { ListQuery } from '../storage.js'
import { type Block, idRange } from './blocks.js'
import { DeadlineExceeded } from './search.js'

/** How many blocks the first step goes through, and how long steps should take, in milliseconds. */
const firstStep = 8
const [quickStep, slowStep] = [10, 40]

/** The ids of the page among all that match, and how many match. */
export interface Matches {
  readonly ids: readonly bigint[]
  readonly total: number
}

/** Finds and counts the matching rows within a range of ids; counting alone takes a fifth of the time. */
export interface Finder {
  ids(from: bigint, to: bigint): readonly bigint[]
  count(from: bigint, to: bigint): number
}

/** Goes through the blocks of a table in steps, which become longer while they are quick. */
export const matchInSteps = (
  blocks: readonly Block[],
  { limit, offset }: ListQuery,
  deadline: number,
  find: Finder,
): Matches => {
  const ids: bigint[] = []
  const skip = Number(offset)
  let total = 0
  let size = firstStep
  for (let next = 0; next < blocks.length; ) {
    const started = performance.now()
    if (started > deadline) throw new DeadlineExceeded()
    const step = blocks.slice(next, next + size)
    const range = idRange(step)
    const isInPage = skip <= total && ids.length < limit
    let matched = isInPage ? 0 : find.count(...range)
    if (isInPage || (ids.length < limit && skip < total + matched)) {
      const found = find.ids(...range)
      matched = found.length
      const from = Math.max(0, skip - total)
      ids.push(...found.slice(from, from + limit - ids.length))
    }
    total += matched
    next += step.length
    const took = performance.now() - started
    if (took < quickStep) size *= 4
    else if (took > slowStep) size = Math.max(1, size >> 1)
  }
  return { ids, total }
}
