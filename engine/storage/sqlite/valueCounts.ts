/** Counts the values of fields among matching rows of the whole table, or of a sample of its blocks. */
import { longestValue, mostValues } from '../dialect.js'
import { quoted } from '../schema.js'
import type { ValueCounts } from '../storage.js'
import { type Block, idRange } from './blocks.js'
import type { Prepare } from './prepared.js'
import { DeadlineExceeded } from './search.js'
import type { Finder } from './steps.js'

/** How many rows are read between two checks of the deadline. */
const batch = 2_000

const blocksAtOnce = 16

/** A sample of about this share of the blocks, spread over the table. */
const sampleOf = (blocks: readonly Block[], share: number): readonly Block[] =>
  share >= 1 ? blocks : blocks.filter((_, n) => Math.floor((n + 1) * share) > Math.floor(n * share))

/** The most frequent values; of equally frequent ones, the first by name. */
const mostFrequent = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, mostValues)

/** Makes the function that counts values. */
export const valueCounter =
  (prepare: Prepare, table: string, readBlocks: () => readonly Block[]) =>
  (fields: readonly string[], share: number, { ids }: Finder, deadline: number): ValueCounts => {
    const columns = fields.map(
      (name) => `case when octet_length(${quoted(name)}) <= ${longestValue} then ${quoted(name)} end`,
    )
    const read = prepare(`select ${columns.join()} from ${table} where id in (select value from json_each(?))`).raw()
    const counts = fields.map(() => new Map<string, number>())
    let rows = 0
    const blocks = sampleOf(readBlocks(), share)
    // The blocks of a sample are not adjacent, so they are counted one by one.
    const size = share >= 1 ? blocksAtOnce : 1
    for (let next = 0; next < blocks.length; next += size) {
      const found = ids(...idRange(blocks.slice(next, next + size)))
      for (let from = 0; from < found.length; from += batch) {
        if (performance.now() > deadline) throw new DeadlineExceeded()
        for (const row of read.all(`[${found.slice(from, from + batch).join()}]`) as unknown[][]) {
          rows++
          for (const [n, value] of row.entries()) {
            if (value === null) continue
            const counted = counts[n] as Map<string, number>
            counted.set(String(value), (counted.get(String(value)) ?? 0) + 1)
          }
        }
      }
    }
    return { rows, values: new Map(fields.map((name, n) => [name, mostFrequent(counts[n] as Map<string, number>)])) }
  }
