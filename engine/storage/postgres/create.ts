/** Creates on PostgreSQL: one statement checks the row and stores it; what others did meanwhile its constraints tell. */
import { DatabaseError } from 'pg'
import type { RowValues } from '../../descriptor/registry.js'
import { type Conflict, type Creation, type Retry, type Table, Unavailable } from '../storage.js'
import type { Ask, Connections, Row } from './connections.js'
import { findKey, holdKey } from './keys.js'
import type { Statements } from './statements.js'

/** How often a row is tried that nothing seems to stand against, and yet something does. */
const attempts = 3

/** A reference to nothing, or a value that is taken. */
const isViolation = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === '23503' || error.code === '23505')

/** The part of a table that creates. */
export const creator = (connections: Connections, statements: Statements): Pick<Table, 'conflicts' | 'create'> => {
  const conflictsIn = (numbers: string | null | undefined): Conflict[] =>
    numbers ? numbers.split(',').map((nth) => statements.checks[Number(nth)] as Conflict) : []

  const creationFrom = ([row]: readonly Row[]): Creation => {
    const [numbers, id, body] = row as Row
    if (numbers) return { conflicts: conflictsIn(numbers) }
    return { id: Number(id), body: Buffer.from(String(body)), replayed: false }
  }

  const once = async (ask: Ask, row: RowValues, { key, digest }: Retry): Promise<Creation> => {
    await ask(holdKey, { key })
    const [before] = await ask(findKey, { key })
    if (!before) return creationFrom(await ask(statements.createOnce, { ...row, retryKey: key, retryDigest: digest }))
    const [then, id, body] = before
    return then === digest ? { id: Number(id), body: Buffer.from(String(body)), replayed: true } : { mismatch: true }
  }

  const conflicts = async (row: RowValues): Promise<Conflict[]> => {
    const [found] = await connections.read(statements.conflicts, row)
    return conflictsIn(found?.[0])
  }

  return {
    conflicts,
    async create(row, retry) {
      for (let attempt = 0; attempt < attempts; attempt++) {
        try {
          if (retry) return await connections.transaction((ask) => once(ask, row, retry))
          return creationFrom(await connections.write(statements.create, row))
        } catch (error) {
          if (!isViolation(error)) throw error
        }
        // Between the check and the insert another has stored, or deleted, what now stands against the row.
        const found = await conflicts(row)
        if (found.length > 0) return { conflicts: found }
        await connections.write(statements.passTaken)
      }
      throw new Unavailable('a row was refused without a reason that lasted')
    },
  }
}
