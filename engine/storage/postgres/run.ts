/** Runs statements on a connection: prepared if it supports that, and with settings if it does not keep them. */
import { LRUCache } from 'lru-cache'
import { type ClientBase, escapeLiteral } from 'pg'
import { bind } from '../sql.js'
import type { Prepared } from './prepared.js'
import type { Server, SessionSettings } from './server.js'

/** A row in text format. */
export type Row = readonly (string | null)[]

/** Runs a statement; values are bound by name, and a missing one is null. */
export type Run = (statement: Prepared, values?: Readonly<Record<string, unknown>>) => Promise<Row[]>

/** Values stay in text format; the caller knows their types. */
const types = { getTypeParser: () => String }

/** How much SQL a connection prepares, in characters: the server keeps each statement, in some hundred times as much memory. */
const maxPreparedSql = 250_000

/** How many statements are remembered that a connection has run once. */
const maxSeenOnce = 200

const newStatements = () => ({
  prepared: new Set<string>(),
  preparedSql: 0,
  seenOnce: new LRUCache<string, true>({ max: maxSeenOnce }),
})

/** The statements of each connection, by name. */
const connectionStatements = new WeakMap<ClientBase, ReturnType<typeof newStatements>>()

/** Whether a connection prepares a statement. It does so on the second run: there is a statement for every combination of parameters. */
const isPreparedOn = (client: ClientBase, { name, sql }: Prepared): boolean => {
  const statements = connectionStatements.get(client) ?? newStatements()
  connectionStatements.set(client, statements)
  if (statements.prepared.has(name)) return true
  if (!statements.seenOnce.delete(name)) statements.seenOnce.set(name, true)
  else if (statements.preparedSql + sql.length <= maxPreparedSql) {
    statements.preparedSql += sql.length
    statements.prepared.add(name)
  }
  return statements.prepared.has(name)
}

const runOn =
  (client: ClientBase, isPrepared: boolean): Run =>
  async (statement, values = {}) => {
    const { name, sql: text } = statement
    const query = {
      ...(isPrepared && isPreparedOn(client, statement) && { name }),
      text,
      values: bind(statement, values),
      rowMode: 'array',
      types,
    } as const
    const { rows } = await client.query(query)
    return rows as Row[]
  }

export const runUnprepared = (client: ClientBase): Run => runOn(client, false)

export type Isolation = 'read committed' | 'serializable'

const beginWith = (isolation: Isolation, settings: SessionSettings): string => {
  const calls = Object.entries(settings).map((pair) => `set_config(${pair.map(escapeLiteral).join(', ')}, true)`)
  return `begin isolation level ${isolation}; select ${calls.join(', ')}`
}

/**
 * Runs statements with these settings on connections to a server that were configured with them. A connection through a pooler keeps
 * none, so there each statement is a transaction that begins with the settings. `single` runs statements that are separate transactions,
 * `together` reads that reach the same server.
 */
export const runnerFor = ({ isDirect, keepsStatements }: Server, settings: SessionSettings) => {
  const begin = isDirect ? 'begin' : beginWith('read committed', settings)
  /** Begins a transaction with some settings. */
  const beginAs = (isolation: Isolation, own: SessionSettings): string =>
    beginWith(isolation, isDirect ? own : { ...settings, ...own })
  const inTransaction = (client: ClientBase): Run => runOn(client, keepsStatements)
  const together = async <T>(client: ClientBase, work: (run: Run) => Promise<T>): Promise<T> => {
    if (isDirect) return work(inTransaction(client))
    await client.query(begin)
    try {
      const result = await work(inTransaction(client))
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }
  const single =
    (client: ClientBase): Run =>
    (statement, values) =>
      together(client, (run) => run(statement, values))
  return { single, together, begin, beginAs, inTransaction }
}
