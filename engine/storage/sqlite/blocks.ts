/** Finds where a page of all rows begins, from the number of rows in each block of ids. */
import { blockBits } from '../schema.js'

/** How many rows a block of ids has. */
export type Block = readonly [block: number, rows: number]

const bits = BigInt(blockBits)

const firstId = (block: number): bigint => BigInt(block) << bits
export const lastId = (block: number): bigint => ((BigInt(block) + 1n) << bits) - 1n

/** The ids of some blocks, from the first to the last. */
export const idRange = (blocks: readonly Block[]): readonly [from: bigint, to: bigint] => [
  firstId(blocks[0]?.[0] ?? 0),
  lastId(blocks.at(-1)?.[0] ?? 0),
]

/** A table at one moment. */
export interface TableState {
  /** Changes with every change to the table. */
  readonly version: string
  readonly rows: number
  /** The ids of the first and the last row; null in an empty table. */
  readonly first: number | null
  readonly last: number | null
  /** Whether any row holds so much text that a page may take long to read. */
  readonly hasLongRows: 0 | 1
}

/** The smallest id a row can have, and where a page past all rows begins. */
const minId = -(2n ** 63n)
const pastEnd = { first: 2n ** 63n - 1n, skip: 1n }

/** Where the page at an offset begins: at an id, after skipping some rows. */
export const pageStart = (
  { rows, first, last }: TableState,
  offset: bigint,
  readBlocks: () => readonly Block[],
): { first: bigint; skip: bigint } => {
  if (first === null || last === null || offset >= rows) return pastEnd
  if (offset === 0n) return { first: minId, skip: 0n }
  // Where no id is missing, the offset is a key; ids beyond 2^53 are rounded here, so their blocks are used.
  const isExact = Number.isSafeInteger(first) && Number.isSafeInteger(last)
  if (isExact && last - first + 1 === rows) return { first: BigInt(first) + offset, skip: 0n }
  let skip = Number(offset)
  for (const [block, count] of readBlocks()) {
    if (count > skip) return { first: firstId(block), skip: BigInt(skip) }
    skip -= count
  }
  return pastEnd
}
