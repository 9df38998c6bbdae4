/** Writes that share a commit: each is checked and stored by itself, and all become durable in one sync. */
import type { Database, Statement } from 'better-sqlite3'
import type { Conflict, Retry } from '../storage.js'
import { keysOf, type Replay } from './keys.js'

/** A row to store, as statements and values: whoever runs it needs to know nothing of resources. */
export interface Write {
  readonly checks: readonly (Conflict & { readonly sql: string; readonly values: readonly unknown[] })[]
  readonly insert: { readonly sql: string; readonly values: readonly unknown[] }
  /** Reads the row by its id, as a state and a body. */
  readonly read: string
  readonly retry: Retry | undefined
}

export type Written =
  | { readonly id: number; readonly body: Uint8Array; readonly replayed: boolean }
  | Replay
  | { readonly conflicts: readonly Conflict[] }
  | { readonly error: string }

/** Makes what runs writes on a connection; it throws where the commit itself fails, and then nothing was stored. */
export const writer = (database: Database): ((writes: readonly Write[]) => Written[]) => {
  const statements = new Map<string, Statement>()
  const prepared = (sql: string): Statement => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const keys = keysOf(database)
  // Within the transaction this is a savepoint, so a write that fails takes nothing with it but itself.
  const one = database.transaction(({ checks, insert, read, retry }: Write): Written => {
    const replay = retry && keys.replay(retry)
    if (replay) return replay
    const conflicts = checks
      .filter(({ type, sql, values }) => (prepared(sql).get(values) === undefined) === (type === 'reference'))
      .map(({ type, field }) => ({ type, field }))
    if (conflicts.length > 0) return { conflicts }
    const id = Number(prepared(insert.sql).run(insert.values).lastInsertRowid)
    const [, body] = prepared(read).raw().get([id]) as [string, Buffer]
    if (retry) keys.remember(retry, id, body)
    return { id, body, replayed: false }
  })
  const all = database.transaction((writes: readonly Write[]) =>
    writes.map((write): Written => {
      try {
        return one(write)
      } catch (error) {
        if (!database.inTransaction) throw error
        return { error: (error as Error).message }
      }
    }),
  )
  return (writes) => all.immediate(writes)
}
