/** Creates on PostgreSQL: one statement checks the row and stores it; constraints catch concurrent changes. */
import { setTimeout } from 'node:timers/promises'
import type { Knex } from 'knex'
import { DatabaseError } from 'pg'
import type { Registry, Resource, RowValues } from '../../descriptor/registry.js'
import { conflictsQuery, parseConflicts } from '../conflicts.js'
import { keyQueries, keysTable, replayOf } from '../keys.js'
import { quoted } from '../schema.js'
import { type Creation, OutcomeUnknown, type Retry, type Table, Unavailable } from '../storage.js'
import type { Connections } from './connections.js'
import { Dropped } from './errors.js'
import { clock } from './functions.js'
import { insertFrom, knex, named, prepared } from './prepared.js'
import type { Row } from './run.js'
import { columnOf, keyOf, parameterType, rowJson } from './schema.js'

const keys = keyQueries(knex, clock)

/** The statements that create rows of a resource. */
export const createStatements = (registry: Registry, resource: Resource) => {
  const { table } = resource
  const fields = resource.fields.filter(({ name }) => name !== 'id')
  const columns = fields.map(({ name }) => name)
  const values = fields.map(({ name, kind }) => named(name, columnOf(kind).type))
  const conflicts = conflictsQuery(knex, registry, resource, { keyOf, typeOf: parameterType })
  const row = knex.select(values).from('_found').whereRaw(`conflicts = ''`)
  const insert = (source: Knex.QueryBuilder) =>
    insertFrom(table, columns, source).returning(['id', knex.raw(`${rowJson(resource)} as body`)])
  const created = knex
    .withMaterialized('_found', conflicts)
    .select('conflicts', '_made.id', '_made.body')
    .from('_found')
    .leftJoin('_made', knex.raw('true'))
  const key = knex
    .select(named('retryKey', 'text'), named('retryDigest', 'text'), 'id', 'body')
    // Expired keys are deleted first; this one may be among them.
    .fromRaw('_made, registry_forget_keys()')
  return {
    conflicts: prepared(conflicts),
    /** Returns the conflicts, or the id and the JSON of the stored row. */
    create: prepared(created.clone().with('_made', insert(row))),
    /**
     * Returns the create that the key was stored with: its digest, id and body. If there is none, does the same as above, and stores
     * the key. Another statement with the same key waits for this one to commit, and then violates the key's unique index.
     */
    createWithKey: prepared(
      created
        .clone()
        .withMaterialized('_stored', keys.find)
        .with('_made', insert(row.clone().whereRaw('not exists (select from _stored)')))
        .with('_key', keys.store(key))
        .select('_stored.digest', '_stored.id', '_stored.body')
        .leftJoin('_stored', knex.raw('true')),
    ),
    /** Moves the sequence past the last id, for rows that were inserted with explicit ids. */
    advanceSequence: prepared(knex.raw(`select registry_advance_sequence('${quoted(table)}')`)),
  }
}

/** How often to retry a row that violates a constraint although it has no conflict. */
const maxRetries = 2

/** A foreign key or unique violation. */
const isViolation = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && (error.code === '23503' || error.code === '23505')

/** The first pause before a create is repeated, in milliseconds; each pause is twice as long, up to the longest. */
const [firstPause, longestPause] = [20, 1_000]

/** The outcome of a create, from what its statement returned. */
const creationFrom = ([row]: readonly Row[], retry: Retry | undefined): Creation => {
  const [conflicts, id, body, storedDigest, storedId, storedBody] = row as Row
  if (retry && storedDigest) {
    return replayOf({ digest: storedDigest, id: Number(storedId), body: Buffer.from(String(storedBody)) }, retry)
  }
  if (conflicts) return { conflicts: parseConflicts(conflicts) }
  return { id: Number(id), body: Buffer.from(String(body)), replayed: false }
}

/** Makes the part of a table that creates rows; a create with a key is repeated for up to `limitMs` if its outcome is unknown. */
export const creator = (
  connections: Connections,
  registry: Registry,
  resource: Resource,
  limitMs: number,
): Pick<Table, 'conflicts' | 'create'> => {
  const statements = createStatements(registry, resource)
  const { table } = resource

  const store = async (row: RowValues, retry: Retry | undefined): Promise<Creation> => {
    const statement = retry ? statements.createWithKey : statements.create
    const values = { ...row, retryKey: retry?.key, retryDigest: retry?.digest }
    for (let left = maxRetries; ; left--) {
      try {
        return creationFrom(await connections.write(statement, values, table), retry)
      } catch (error) {
        if (left === 0 || !isViolation(error)) throw error
        // Another client has just stored the key, or has stored or deleted what the row conflicts with: the next attempt finds it.
        if (error.table === keysTable) continue
        // Or the id is taken.
        await connections.write(statements.advanceSequence, {}, table)
      }
    }
  }

  /** Repeats a create whose connection broke: if an attempt has stored the row, the next one finds the key. */
  const storeOnce = async (row: RowValues, retry: Retry): Promise<Creation> => {
    const until = performance.now() + limitMs
    let unknown: unknown
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        const creation = await store(row, retry)
        return unknown && 'replayed' in creation ? { ...creation, replayed: false } : creation
      } catch (error) {
        if (error instanceof OutcomeUnknown) unknown ??= error
        const isBroken = error instanceof OutcomeUnknown || error instanceof (unknown ? Unavailable : Dropped)
        if (!isBroken || performance.now() + pause > until) throw unknown ?? error
      }
      await setTimeout(pause)
    }
  }

  return {
    async conflicts(row) {
      const [found] = await connections.read(statements.conflicts, row, { table })
      return parseConflicts(found?.[0] ?? '')
    },
    create: (row, retry) => (retry ? storeOnce(row, retry) : store(row, undefined)),
  }
}
