/**
 * Writes on PostgreSQL. A create is one statement that checks the row and stores it; updates and deletes are short transactions that
 * lock their row. Constraints catch what other clients change at the same time.
 */
import { setTimeout } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { conflictsQuery, rowOfParameters } from '../conflicts.js'
import type { Cell, Dialect, Source } from '../dialect.js'
import { OutcomeUnknown, RowRefused, Unavailable } from '../failures.js'
import { keyQueries, keysTable } from '../keys.js'
import { hasLog } from '../log.js'
import { type AnyOutcome, type AnyPlan, stepsOf, withBuffers } from '../makeWrite.js'
import { literal, quoted } from '../schema.js'
import { joinSql, parameter, sql } from '../sql.js'
import { runInTurn } from '../walk.js'
import type {
  BatchOutcome,
  BatchPlan,
  ImportOutcome,
  ImportPlan,
  KeyStatements,
  Outcome,
  Refused,
  WritePlan,
} from '../writeData.js'
import type { Connections } from './connections.js'
import { Dropped } from './errors.js'
import { clock, deleteExpired } from './functions.js'
import { setCaller } from './log.js'
import { type Prepared, prepared } from './prepared.js'
import type { Run } from './run.js'
import { columnOf, rowJson } from './schema.js'

const keys = keyQueries(clock)

/** The statements that do everything a create of a managed table needs: it takes one round trip instead of five. */
export const createStatements = (
  { typeOf }: Dialect,
  registry: Registry,
  source: Source,
  sources: (path: string) => Source,
) => {
  const { resource } = source
  const fields = resource.fields.filter(({ name, managed }) => name !== 'id' || managed !== true)
  const names = fields.map(({ name }) => quoted(name)).join(', ')
  const input = rowOfParameters(typeOf, source)
  const conflicts = conflictsQuery(registry, source, { input, referenced: sources })
  const values = fields.map((field) => parameter(field.name, columnOf(field).type))
  const insertedRow = (condition: string) => sql`_conflicts as materialized (${conflicts}), _made as (
    insert into ${quoted(resource.table)} (${names}) select ${joinSql(values, ', ')} from _conflicts where conflicts = ''${condition}
    returning "id", ${rowJson(resource)} as body)`
  const told = hasLog(registry) ? sql`, ${setCaller}` : ''
  const key = sql`${parameter('$key', 'text')}, ${parameter('$digest', 'text')}, body`
  return {
    /** Returns the conflicts, or the id and the JSON of the stored row. */
    plain: prepared(
      sql`with ${insertedRow('')} select conflicts, _made.id, _made.body${told} from _conflicts left join _made on true`,
    ),
    /**
     * Returns the create that the key was stored with: its digest and body. If there is none, does the same as above, and stores
     * the key. Another statement with the same key waits for this one to commit, and then violates the key's unique index.
     */
    withKey: prepared(
      sql`with _stored as materialized (${keys.find}), ${insertedRow(' and not exists (select from _stored)')},
        _key as (${keys.store(key, ' from _made')})
        select conflicts, _made.id, _made.body, _stored.digest, _stored.body${told}
        from _conflicts left join _made on true left join _stored on true`,
    ),
  }
}

/** The statements of idempotency keys; `prune` where no trigger does it. */
export const keyStatements: Required<KeyStatements> = {
  find: prepared(keys.find),
  store: prepared(
    keys.store(
      joinSql(
        ['$key', '$digest', 'body'].map((name) => parameter(name, 'text')),
        ', ',
      ),
    ),
  ),
  prune: prepared(deleteExpired(keys)),
}

/** Citus changes no reference table in a transaction that has read tables which reference it, unless it reads shard after shard. */
export const inSequence: Prepared = prepared(
  `select set_config(name, 'sequential', true) from (select 'citus.multi_shard_modify_mode' as name) as setting
    where current_setting(name, true) is not null`,
)

/** Moves the sequence of a table past its last id. */
export const advanceSequence = (table: string): Prepared => {
  const [name, literalName] = [quoted(table), literal(quoted(table))]
  return prepared(`select setval(pg_get_serial_sequence(${literalName}, 'id'), max(id)) from ${name}`)
}

/** How often to retry a row that violates a constraint although it has no conflict. */
const maxRetries = 2

export const isViolation = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && (error.code === '23503' || error.code === '23505')

/** SQLSTATEs of values that a table does not take: constraints, lengths, numbers, dates, enumerations, keys of an index, and views. */
const refusing = /^(?:23\w{3}|22001|22003|22007|22008|22P02|44000|54000)$/

/** Why the server refuses a value; undefined for any other error. */
export const refusedBy = (error: unknown, named: string): Refused | undefined => {
  if (error instanceof RowRefused) return error.refused
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

type Made = AnyOutcome<Cell>

export const isKeyTaken = (error: unknown): boolean => isViolation(error) && error.table === keysTable

/** What the write of a plan is that an error is about. */
export const failedKind = (plan: AnyPlan, error: unknown): AnyPlan['kind'] =>
  (plan.kind === 'batch' ? (plan.writes[(error as { operation?: number }).operation ?? 0] ?? plan) : plan).kind

/** The outcome of a plan that the server refuses; undefined if the error is another one. */
export const refusalOf = (plan: AnyPlan, error: unknown, table: string): Made | undefined => {
  if (isKeyTaken(error)) return undefined
  const { operation = 0 } = error as { operation?: number }
  const failed = (outcome: Outcome<Cell>): Made =>
    plan.kind === 'batch' ? { operation, outcome, isUndone: true } : outcome
  // Tables of other programs may reference the row too.
  if (isViolation(error) && failedKind(plan, error) === 'delete') return failed({ referencing: [] })
  const refused = refusedBy(error, table)
  return refused && failed({ refused })
}

/** Makes the functions that make writes; one with a key is repeated for up to `limitMs` if its outcome is unknown. */
export const createWriter = (connections: Connections, { table }: Resource, limitMs: number, advance?: Prepared) => {
  const attempt = async (plan: AnyPlan): Promise<Made> => {
    const make = (run: Run) => runInTurn(stepsOf(plan), ({ statement, values }) => run(statement, values))
    // A single statement is a transaction by itself.
    return 'create' in plan && plan.create
      ? make((statement, values) => connections.write(statement, values, table))
      : connections.transaction(make, table, undefined, (made) => !('isUndone' in made))
  }
  const make = async (plan: AnyPlan): Promise<Made> => {
    for (let retriesLeft = maxRetries; ; retriesLeft--) {
      try {
        return await attempt(plan)
      } catch (error) {
        if (!isViolation(error) || retriesLeft === 0) {
          const refusal = refusalOf(plan, error, table)
          if (refusal) return refusal
          throw error
        }
        // Another client has just stored the key, or has stored or deleted what the row conflicts with: the next attempt finds it.
        if (isKeyTaken(error) || /^(?:update|delete)$/.test(failedKind(plan, error)) || !advance) continue
        // Or the id is taken.
        await connections.write(advance, {}, table)
      }
    }
  }

  /** Repeats a write whose connection broke: if an attempt has made the change, the next one finds the key. */
  const makeOnce = async (plan: AnyPlan): Promise<Made> => {
    const until = performance.now() + limitMs
    let unknown: unknown
    for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
      try {
        const outcome = await make(plan)
        return unknown && 'replayed' in outcome ? { ...outcome, replayed: false } : outcome
      } catch (error) {
        if (error instanceof OutcomeUnknown) unknown ??= error
        const isBroken = error instanceof OutcomeUnknown || error instanceof (unknown ? Unavailable : Dropped)
        if (!isBroken || performance.now() + pause > until) throw unknown ?? error
      }
      await setTimeout(pause)
    }
  }

  const store = async (plan: AnyPlan) => {
    return withBuffers(await (plan.key ? makeOnce(plan) : make(plan)))
  }
  return {
    write: async (plan: WritePlan) => (await store(plan)) as Outcome,
    import: async (plan: ImportPlan) => (await store(plan)) as ImportOutcome,
    batch: async (plan: BatchPlan) => (await store(plan)) as BatchOutcome,
  }
}
