/** Creates on PostgreSQL: one statement checks the row and stores it; constraints catch what others stored meanwhile. */
import { DatabaseError } from 'pg'
import type { RowValues } from '../../descriptor/registry.js'
import { type Conflict, type Creation, type Retry, type Table, Unavailable } from '../storage.js'
import type { Connections, Row, Run } from './connections.js'
import { findKey, lockKey } from './keys.js'
import type { Statements } from './statements.js'

/** How often to retry a row that violates a constraint although the checks find no conflict. */
const maxAttempts = 3

/** A foreign key or unique violation. */
const isViolation = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === '23503' || error.code === '23505')

/** Makes the part of a table that creates rows. */
export const creator = (connections: Connections, statements: Statements): Pick<Table, 'conflicts' | 'create'> => {
  const conflictsIn = (numbers: string | null | undefined): Conflict[] =>
    numbers ? numbers.split(',').map((nth) => statements.checks[Number(nth)] as Conflict) : []

  const creationFrom = ([row]: readonly Row[]): Creation => {
    const [numbers, id, body] = row as Row
    if (numbers) return { conflicts: conflictsIn(numbers) }
    return { id: Number(id), body: Buffer.from(String(body)), replayed: false }
  }

  const createWithKey = async (run: Run, row: RowValues, { key, digest }: Retry): Promise<Creation> => {
    await run(lockKey, { key })
    const [before] = await run(findKey, { key })
    if (!before)
      return creationFrom(await run(statements.createWithKey, { ...row, retryKey: key, retryDigest: digest }))
    const [storedDigest, id, body] = before
    return storedDigest === digest
      ? { id: Number(id), body: Buffer.from(String(body)), replayed: true }
      : { mismatch: true }
  }

  const conflicts = async (row: RowValues): Promise<Conflict[]> => {
    const [found] = await connections.read(statements.conflicts, row)
    return conflictsIn(found?.[0])
  }

  return {
    conflicts,
    async create(row, retry) {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        try {
          if (retry) return await connections.transaction((run) => createWithKey(run, row, retry))
          return creationFrom(await connections.write(statements.create, row))
        } catch (error) {
          if (!isViolation(error)) throw error
        }
        // Between the check and the insert, another client has stored or deleted what the row conflicts with.
        const found = await conflicts(row)
        if (found.length > 0) return { conflicts: found }
        await connections.write(statements.advanceSequence)
      }
      throw new Unavailable('a constraint was violated, but no conflict was found')
    },
  }
}
