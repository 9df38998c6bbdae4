/**
 * Writes on PostgreSQL. A create is one statement that checks the row and stores it; updates and deletes are short transactions that
 * lock their row. Constraints catch what other clients change at the same time.
 */
import { setTimeout } from 'node:timers/promises'
import type { Knex } from 'knex'
import { DatabaseError } from 'pg'
import { exactInteger, type RowId } from '../../descriptor/integers.js'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { conflictsQuery, parseConflicts } from '../conflicts.js'
import { keyQueries, keysTable } from '../keys.js'
import { findReferencing, type Referrer, referrersTo, runInTurn, type WriteSql } from '../referencing.js'
import { findField, literal, quoted, type Sources } from '../schema.js'
import { OutcomeUnknown, type Table, Unavailable } from '../storage.js'
import {
  type IdempotencyKey,
  type Outcome,
  type Refused,
  rememberUpdates,
  replayed,
  rowTag,
  type Write,
} from '../write.js'
import { askForUpkeep } from './changeLog.js'
import type { Connections } from './connections.js'
import { Dropped } from './errors.js'
import { clock } from './functions.js'
import { insertFrom, knex, named, type Prepared, prepared } from './prepared.js'
import type { Row, Run } from './run.js'
import { columnOf, indexKey, parameterType, rowJson } from './schema.js'

const keys = keyQueries(knex, clock)

/** The statements of writes; a create is one statement, or an insert and a read in a transaction. */
interface WriteStatements {
  readonly conflicts: Prepared
  readonly create?: Prepared
  readonly createWithKey?: Prepared
  readonly insert?: Prepared
  readonly read?: Prepared
  readonly lock: Prepared
  update(
    names: readonly string[],
    stamps: readonly string[],
  ): { readonly conflicts: Prepared; readonly isChanged?: Prepared; readonly change: Prepared }
  readonly delete: Prepared
  /** Precedes the statements of a delete. */
  readonly beforeDelete?: Prepared
  referrers(): Referrer[]
  readonly findKey?: Prepared
  readonly storeKey?: Prepared
  readonly pruneKeys?: Prepared
  readonly advanceSequence?: Prepared
}

export const writeStatements = (
  registry: Registry,
  resource: Resource,
  { sources, writeSql }: { sources?: Sources; writeSql?: WriteSql } = {},
) => {
  const { table } = resource
  const rowId = named('id', 'bigint')
  const fields = resource.fields.filter(({ name }) => name !== 'id')
  const columns = fields.map(({ name }) => name)
  const values = fields.map(({ name, kind }) => named(name, columnOf(kind).type))
  const comparison = { indexKey, typeOf: parameterType }
  const conflicts = conflictsQuery(knex, registry, resource, 'all', comparison, sources)
  const row = knex.select(values).from('_found').whereRaw(`conflicts = ''`)
  const insert = (source: Knex.QueryBuilder) =>
    insertFrom(table, columns, source).returning(['id', knex.raw(`${rowJson(resource)} as body`)])
  const created = knex
    .withMaterialized('_found', conflicts)
    .select('conflicts', '_made.id', '_made.body')
    .from('_found')
    .leftJoin('_made', knex.raw('true'))
  const key = knex.select(named('idempotencyKey', 'text'), named('digest', 'text'), 'id', 'body').from('_made')
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
    /** The JSON of a row, which is locked until the transaction ends. */
    lock: prepared(
      knex(table)
        .select(knex.raw(rowJson(resource)))
        .where('id', rowId)
        .forUpdate(),
    ),
    /** Finds the conflicts of an update, and makes it: `stamps` only if one of the other values changes. */
    update(names: readonly string[], stamps: readonly string[]) {
      const value = (name: string) => named(name, columnOf(findField(resource, name).kind).type)
      const changed = names.map((name) => knex.raw('?? is distinct from ?', [name, value(name)]))
      const isChanged = `(${changed.map(() => '?').join(' or ') || 'false'})`
      const row = knex(table).where('id', rowId)
      const values = Object.fromEntries([...names, ...stamps].map((name) => [name, value(name)]))
      return {
        conflicts: prepared(conflictsQuery(knex, registry, resource, names, comparison, sources)),
        // An update of no row would still fire the trigger that changes the version of the table.
        isChanged: prepared(row.clone().select('id').whereRaw(isChanged, changed)),
        change: prepared(row.update({ id: knex.ref('id'), ...values })),
      }
    },
    delete: prepared(knex(table).where('id', rowId).delete()),
    referrers: referrersTo({ knex, columnOf, isIn: '= any(?)', idsType: 'bigint[]' }, registry, resource, writeSql),
    findKey: keyStatements.findKey,
    storeKey: keyStatements.storeKey,
    /** Moves the sequence past the last id, for rows that were inserted with explicit ids. */
    advanceSequence: prepared(knex.raw(askForUpkeep(table))),
  }
}

/** Expired keys that nobody else deletes now. */
const expired = knex.raw('key = any(array?)', [keys.expired.clone().select('key').forUpdate().skipLocked()] as never)

export const keyStatements = {
  findKey: prepared(keys.find),
  storeKey: prepared(
    keys.store(
      knex.select(
        ...['idempotencyKey', 'digest'].map((name) => named(name, 'text')),
        named('id', 'bigint'),
        named('body', 'text'),
      ),
    ),
  ),
  /** Where no trigger does it. */
  pruneKeys: prepared(keys.expired.clone().where(expired).delete()),
}

/** Citus changes no reference table in a transaction that has read tables which reference it, unless it reads shard after shard. */
export const inSequence: Prepared = prepared(
  knex.raw(`select set_config(name, 'sequential', true) from (select 'citus.multi_shard_modify_mode' as name) as setting
    where current_setting(name, true) is not null`),
)

/** Moves the sequence of a table past its last id. */
export const advanceSequence = (table: string): Prepared => {
  const [name, literalName] = [quoted(table), literal(quoted(table))]
  return prepared(knex.raw(`select setval(pg_get_serial_sequence(${literalName}, 'id'), max(id)) from ${name}`))
}

/** How often to retry a row that violates a constraint although it has no conflict. */
const maxRetries = 2

const isViolation = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && (error.code === '23503' || error.code === '23505')

/** SQLSTATEs of values that a table does not take: constraints, lengths, numbers, dates, enumerations, keys of an index, and views. */
const refusing = /^(?:23\w{3}|22001|22003|22007|22008|22P02|44000|54000)$/

/** Why the server refuses a value; undefined for any other error. */
const refusedBy = (error: unknown, named: string): Refused | undefined => {
  if (!(error instanceof DatabaseError) || !refusing.test(error.code ?? '')) return undefined
  const { constraint, column } = error
  if (constraint) return { constraint, column, reason: `it violates the constraint "${constraint}"` }
  return {
    column,
    reason: error.code === '23502' ? 'the column is NOT NULL' : error.message.replace(`${named}: `, ''),
  }
}

/** The first pause before a create is repeated, in milliseconds; each pause is twice as long, up to the longest. */
const [firstPause, maxPause] = [20, 1_000]

const creationFrom = ([row]: readonly Row[], key: IdempotencyKey | undefined): Outcome => {
  const [conflicts, id, body, digest, storedId, storedBody] = row as Row
  if (key && digest)
    return replayed({ digest, id: exactInteger(String(storedId)), body: Buffer.from(String(storedBody)) }, key)
  if (conflicts) return { conflicts: parseConflicts(conflicts) }
  return { id: exactInteger(String(id)), body: Buffer.from(String(body)), replayed: false }
}

const keyValues = (key: IdempotencyKey | undefined) => ({ idempotencyKey: key?.key, digest: key?.digest })

/** Makes the part of a table that writes rows; a write with a key is repeated for up to `limitMs` if its outcome is unknown. */
export const tableWriter = (
  connections: Connections,
  { path, table }: Resource,
  limitMs: number,
  statements: WriteStatements,
): Pick<Table, 'hasKey' | 'conflicts' | 'referencing' | 'write'> => {
  const { findKey, storeKey, advanceSequence: advance } = statements
  const update = rememberUpdates(statements.update)

  /** Reads a row that was written; it may not be one of the view that is written to. */
  const readBack = async (run: Run, id: RowId): Promise<Buffer> => {
    const [row] = await run(statements.read ?? statements.lock, { id })
    if (row) return Buffer.from(String(row[0]))
    throw Object.assign(new DatabaseError('the row would not be one of the view', 0, 'error'), { code: '44000' })
  }

  const storedFor = async (run: Run, key: IdempotencyKey | undefined): Promise<Outcome | undefined> => {
    const [stored] = key && findKey ? await run(findKey, keyValues(key)) : []
    if (!key || !stored) return undefined
    const [digest, storedId, body] = stored
    return replayed(
      { digest: String(digest), id: exactInteger(String(storedId)), body: Buffer.from(String(body)) },
      key,
    )
  }
  const remember = async (run: Run, key: IdempotencyKey | undefined, id: RowId, body: Buffer): Promise<void> => {
    if (!key || !storeKey) return
    if (statements.pruneKeys) await run(statements.pruneKeys)
    await run(storeKey, { ...keyValues(key), id, body: body.toString() })
  }

  const findReferences = (run: Run, id: RowId) =>
    runInTurn(findReferencing(statements.referrers(), path, id), ({ statement, values }) => run(statement, values))

  const insert = async (run: Run, insertion: Prepared, write: Extract<Write, { kind: 'insert' }>): Promise<Outcome> => {
    const { values, idempotencyKey: key } = write
    const stored = await storedFor(run, key)
    if (stored) return stored
    const [found] = await run(statements.conflicts, values)
    if (found?.[0]) return { conflicts: parseConflicts(found[0]) }
    const [made] = await run(insertion, values)
    const id = exactInteger(String(made?.[0]))
    const body = await readBack(run, id)
    await remember(run, key, id, body)
    return { id, body, replayed: false }
  }

  const change = async (run: Run, write: Exclude<Write, { kind: 'insert' }>): Promise<Outcome> => {
    const { id, ifMatch, idempotencyKey: key } = write
    // A delete that compares nothing does not need the right to update.
    const isLocked = write.kind === 'update' || ifMatch !== undefined || !statements.read
    const [locked] = await run(isLocked ? statements.lock : (statements.read as Prepared), { id })
    // After the lock, which waits for another request with the same key.
    const stored = await storedFor(run, key)
    if (stored) return stored
    if (!locked) return { isMissing: true }
    let body: Buffer = Buffer.from(String(locked[0]))
    if (ifMatch && !ifMatch.includes(rowTag(body))) return { current: body }
    if (write.kind === 'delete') {
      if (statements.beforeDelete) await run(statements.beforeDelete)
      // Before the cascades, which would be made and undone.
      const { referencing, isPrevented, changes } = await findReferences(run, id)
      if (isPrevented) return { referencing }
      for (const { statement, values } of changes) await run(statement, values)
      await run(statements.delete, { id })
      body = Buffer.alloc(0)
    } else {
      const { conflicts, isChanged, change: make } = update(Object.keys(write.values), Object.keys(write.stamps))
      const values = { ...write.values, ...write.stamps, id }
      const [found] = await run(conflicts, values)
      if (found?.[0]) return { conflicts: parseConflicts(found[0]) }
      if (!isChanged || (await run(isChanged, values)).length > 0) {
        await run(make, values)
        body = await readBack(run, id)
      }
    }
    await remember(run, key, id, body)
    return { id, body, replayed: false }
  }

  const make = async (write: Write): Promise<Outcome> => {
    const key = write.idempotencyKey
    const statement = key ? statements.createWithKey : statements.create
    for (let left = maxRetries; ; left--) {
      try {
        if (write.kind !== 'insert') return await connections.transaction((run) => change(run, write), table)
        const { insert: insertion } = statements
        if (insertion) return await connections.transaction((run) => insert(run, insertion, write), table)
        const values = { ...write.values, ...keyValues(key) }
        return creationFrom(await connections.write(statement as Prepared, values, table), key)
      } catch (error) {
        const isKey = isViolation(error) && error.table === keysTable
        // Tables of other programs may reference the row too.
        if (isViolation(error) && left === 0 && write.kind === 'delete' && !isKey) return { referencing: [] }
        if (!isViolation(error) || left === 0) {
          const refused = isKey ? undefined : refusedBy(error, table)
          if (refused) return { refused }
          throw error
        }
        // Another client has just stored the key, or has stored or deleted what the row conflicts with: the next attempt finds it.
        if (isKey || write.kind !== 'insert' || !advance) continue
        // Or the id is taken.
        await connections.write(advance, {}, table)
      }
    }
  }

  /** Repeats a write whose connection broke: if an attempt has made the change, the next one finds the key. */
  const makeOnce = async (write: Write): Promise<Outcome> => {
    const until = performance.now() + limitMs
    let unknown: unknown
    for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
      try {
        const outcome = await make(write)
        return unknown && 'replayed' in outcome ? { ...outcome, replayed: false } : outcome
      } catch (error) {
        if (error instanceof OutcomeUnknown) unknown ??= error
        const isBroken = error instanceof OutcomeUnknown || error instanceof (unknown ? Unavailable : Dropped)
        if (!isBroken || performance.now() + pause > until) throw unknown ?? error
      }
      await setTimeout(pause)
    }
  }

  return {
    async hasKey(key) {
      return findKey !== undefined && (await connections.read(findKey, { idempotencyKey: key }, { table })).length > 0
    },
    async conflicts(values, id) {
      const { conflicts } = id === undefined ? statements : update(Object.keys(values), [])
      const [found] = await connections.read(conflicts, { ...values, id }, { table })
      return parseConflicts(found?.[0] ?? '')
    },
    async referencing(id) {
      return findReferences((statement, values) => connections.read(statement, values, { table }), id)
    },
    write: (write) => (write.idempotencyKey ? makeOnce(write) : make(write)),
  }
}
