/** Creates on PostgreSQL: one statement checks the row and stores it; constraints catch what others stored meanwhile. */
import { DatabaseError } from 'pg'
import type { Registry, Resource, RowValues } from '../../descriptor/registry.js'
import { conflictsQuery, parseConflicts } from '../conflicts.js'
import { keyQueries, replayOf } from '../keys.js'
import { quoted } from '../schema.js'
import type { Creation, Retry, Table } from '../storage.js'
import type { Connections, Row, Run } from './connections.js'
import { now } from './functions.js'
import { insertFrom, knex, named, prepared } from './prepared.js'
import { columnTypes, keyOf, rowJson } from './schema.js'

const keys = keyQueries(knex, now)
const findKey = prepared(keys.find)

/**
 * Locks a key until the transaction ends: a second request with the same key waits, and then finds the first one's result. Expired
 * keys are deleted, so that this one can be stored.
 */
const lockKey = prepared(
  knex.raw('select pg_advisory_xact_lock(723811690, hashtext(?)), registry_prune_keys()', [named('key')]),
)

/** The statements that create rows of a resource. */
export const createStatements = (registry: Registry, resource: Resource) => {
  const { table } = resource
  const fields = resource.fields.filter(({ name }) => name !== 'id')
  const columns = fields.map(({ name }) => name)
  const values = fields.map(({ name, kind }) => named(name, columnTypes[kind]))
  const conflicts = conflictsQuery(knex, registry, resource, keyOf)
  const row = knex.select(values).from('_found').whereRaw(`conflicts = ''`)
  const create = () =>
    knex
      .withMaterialized('_found', conflicts)
      .with('_made', insertFrom(table, columns, row).returning(['id', knex.raw(`${rowJson(resource)} as body`)]))
      .select('conflicts', 'id', 'body')
      .from('_found')
      .leftJoin('_made', knex.raw('true'))
  const key = knex.select(named('retryKey', 'text'), named('retryDigest', 'text'), 'id', 'body').from('_made')
  return {
    conflicts: prepared(conflicts),
    /** Returns the conflicts, or the id and the JSON of the stored row. */
    create: prepared(create()),
    /** The same, and stores the idempotency key. */
    createWithKey: prepared(create().with('_stored_key', keys.store(key))),
    /** Moves the sequence past the last id, for rows that were inserted with ids of their own. */
    advanceSequence: prepared(knex.raw(`select registry_advance_sequence('${quoted(table)}')`)),
  }
}

/** How often to retry a row that violates a constraint although it has no conflict. */
const maxRetries = 2

/** A foreign key or unique violation. */
const isViolation = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === '23503' || error.code === '23505')

/** Makes the part of a table that creates rows. */
export const creator = (
  connections: Connections,
  registry: Registry,
  resource: Resource,
): Pick<Table, 'conflicts' | 'create'> => {
  const statements = createStatements(registry, resource)

  const creationFrom = ([row]: readonly Row[]): Creation => {
    const [conflicts, id, body] = row as Row
    if (conflicts) return { conflicts: parseConflicts(conflicts) }
    return { id: Number(id), body: Buffer.from(String(body)), replayed: false }
  }

  const createWithKey = async (run: Run, row: RowValues, retry: Retry): Promise<Creation> => {
    const { key, digest } = retry
    await run(lockKey, { key })
    const [stored] = await run(findKey, { key })
    if (!stored)
      return creationFrom(await run(statements.createWithKey, { ...row, retryKey: key, retryDigest: digest }))
    const [storedDigest, id, body] = stored
    return replayOf({ digest: String(storedDigest), id: Number(id), body: Buffer.from(String(body)) }, retry)
  }

  return {
    async conflicts(row) {
      const [found] = await connections.read(statements.conflicts, row)
      return parseConflicts(found?.[0] ?? '')
    },
    async create(row, retry) {
      for (let left = maxRetries; ; left--) {
        try {
          if (retry) return await connections.transaction((run) => createWithKey(run, row, retry))
          return creationFrom(await connections.write(statements.create, row))
        } catch (error) {
          if (left === 0 || !isViolation(error)) throw error
          // The id is taken, or another client has just stored or deleted what the row conflicts with: the next attempt finds it.
          await connections.write(statements.advanceSequence)
        }
      }
    },
  }
}
