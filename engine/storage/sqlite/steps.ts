/** Goes through the blocks of a table in steps, so that a deadline can end a search between two of them. */
import type { ListQuery, Position } from '../../descriptor/listQuery.js'
import { type FoundIds, maxIds } from '../parts.js'
import { type Block, idRange } from './blocks.js'
import { DeadlineExceeded } from './search.js'

/** How long steps should take, in milliseconds. */
const [quickStep, slowStep] = [10, 40]

/** How many blocks the first step goes through when a page is searched. */
const firstStep = 8

/** Looking for the next ids ends after this long, in milliseconds: other reads wait. */
const idsMs = 20

export function* idRanges(blocks: readonly Block[], deadline: number, first = firstStep, max = Number.MAX_VALUE) {
  let size = first
  for (let next = 0; next < blocks.length; ) {
    const started = performance.now()
    if (started > deadline) throw new DeadlineExceeded()
    const step = blocks.slice(next, next + size)
    yield idRange(step)
    next += step.length
    const took = performance.now() - started
    if (took < quickStep) size = Math.min(size * 4, max)
    else if (took > slowStep) size = Math.max(1, size >> 1)
  }
}

export interface Matches {
  readonly ids: readonly bigint[]
  readonly total: number
  readonly next: Position | undefined
}

/** A page in order of `id`. */
export const pageById = (ids: readonly bigint[], total: number, { offset }: ListQuery['page']): Matches => {
  const last = ids.at(-1)
  const isMore = last !== undefined && offset + BigInt(ids.length) < total
  return { ids, total, next: isMore ? { id: last, value: null } : undefined }
}

/** Finds and counts the matching rows within a range of ids; counting alone takes a fifth of the time. */
export interface Finder {
  ids(from: bigint, to: bigint): readonly bigint[]
  count(from: bigint, to: bigint): number
  among(ids: readonly bigint[]): ReadonlySet<bigint>
}

/** Finds the ids of a page and counts all matches, unless their number is known. */
export const matchInSteps = (
  blocks: readonly Block[],
  page: ListQuery['page'],
  deadline: number,
  find: Finder,
  known?: number,
): Matches => {
  const { limit, offset } = page
  const ids: bigint[] = []
  const skip = Number(offset)
  let total = 0
  for (const range of idRanges(blocks, deadline)) {
    const isInPage = skip <= total && ids.length < limit
    let matched = isInPage ? 0 : find.count(...range)
    if (isInPage || (ids.length < limit && skip < total + matched)) {
      const found = find.ids(...range)
      matched = found.length
      const from = Math.max(0, skip - total)
      ids.push(...found.slice(from, from + limit - ids.length))
    }
    total += matched
    if (known !== undefined && ids.length >= limit) break
  }
  return pageById(ids, known ?? total, page)
}

/** The next matching ids after an id; those within the time, or none yet. */
export const nextIds = (
  blocks: readonly Block[],
  after: bigint | undefined,
  deadline: number,
  { ids }: Finder,
): FoundIds => {
  const rest = after === undefined ? blocks : blocks.filter(([, last]) => last > after)
  const position = (id: bigint | undefined) => (id === undefined ? undefined : { id, value: null })
  const until = performance.now() + idsMs
  const found: bigint[] = []
  for (const [first, last] of idRanges(rest, deadline, 1)) {
    for (const id of ids(after === undefined || first > after ? first : after + 1n, last)) found.push(id)
    if (found.length > maxIds)
      return { ids: BigInt64Array.from(found.slice(0, maxIds)), last: position(found[maxIds - 1]) }
    const isEnd = last === rest.at(-1)?.[1]
    if (!isEnd && (found.length > maxIds / 2 || performance.now() > until))
      return { ids: BigInt64Array.from(found), last: position(last) }
  }
  return { ids: BigInt64Array.from(found), last: undefined }
}
