/** Where a table stands: its tag, its count, and at which id a page of it begins. */
import type { Database } from 'better-sqlite3'
import { mostInteger } from '../listQuery.js'
import { blockBits } from './schema.js'
import type { Statements } from './statements.js'

/** A table at one moment. */
export interface State {
  /** What the database keeps of it: another after every change. */
  readonly state: string
  readonly rows: number
  /** The ids of the first and the last row; null where there is none. */
  readonly first: number | null
  readonly last: number | null
}

/** Where a page begins: from an id on, after so many rows. */
export interface Start {
  readonly first: bigint
  readonly skip: bigint
}

/** Makes the functions that look. */
export const stateOf = (
  database: Database,
  statements: Pick<Statements, 'state' | 'blocks'>,
  changes: () => number,
) => {
  const ask = database.prepare(statements.state.sql).raw()
  const blocks = database.prepare(statements.blocks.sql).raw()
  let seen = -1
  let last: State

  const look = (): State => {
    const [state, rows, first, lastId] = ask.get() as [string, number, number | null, number | null]
    last = { state, rows, first, last: lastId }
    return last
  }

  return {
    /** The state now, by a look at the database. */
    look,
    /** The state as this turn of the event loop knows it. */
    now(): State {
      const now = changes()
      if (now === seen) return last
      look()
      seen = now
      return last
    },
    /** The page at an offset into all rows, found without walking there. */
    startOf({ rows, first, last: lastId }: State, offset: bigint): Start {
      if (first === null || lastId === null || offset >= rows) return { first: mostInteger, skip: 0n }
      // Where no id is missing, the offset is a key.
      if (offset === 0n || lastId - first + 1 === rows) return { first: BigInt(first) + offset, skip: 0n }
      let left = Number(offset)
      for (const [block, count] of blocks.all() as [number, number][]) {
        if (count > left) return { first: BigInt(block) << BigInt(blockBits), skip: BigInt(left) }
        left -= count
      }
      return { first: mostInteger, skip: 0n }
    },
  }
}

export type TableState = ReturnType<typeof stateOf>
