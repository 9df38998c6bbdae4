/**
 * The log of changes: an entry for each change of a row, which triggers write, whichever program has made the change. What the feed of
 * changes, the history of a row and webhooks tell is read from it.
 */
import { historyDays } from '../descriptor/logging.js'
import { type Field, isLogged, type Registry, type Resource, type RowId } from '../descriptor/registry.js'
import type { CallerStatements, Cell } from './dialect.js'
import { parseSnapshot, type Snapshot } from './snapshots.js'
import type { Fragment, Sql, Values } from './sql.js'
import type { CallerPlan } from './writeData.js'

export const logTable = 'registry_log'

/** What an entry is about: a row, or all of a table, which has changed in a way that nothing tells. */
export type LogOperation = 'create' | 'update' | 'delete' | 'reset'

/** For how many days the entries of a resource are kept. */
export const keptDays = (resource: Resource, changesDays: number): number => historyDays(resource) ?? changesDays

export const hasLog = (registry: Registry): boolean => registry.some(isLogged)

/** The fields whose values the history of a row has. */
export const historyFields = (resource: Resource): readonly Field[] =>
  resource.history ? resource.fields.filter(({ redacted }) => !redacted) : []

/** Whether an update may change nothing that a reader sees; its entry then names the fields that it has changed. */
export const namesChanges = ({ fields }: Resource): boolean => fields.some(({ redacted, readBy }) => redacted || readBy)

/** What tells the database who writes, if it keeps a log, and if that is known. */
export const callerPlan = (
  registry: Registry,
  { set, clear }: CallerStatements,
  by: string | undefined,
): { readonly caller?: CallerPlan } =>
  by === undefined || !hasLog(registry)
    ? {}
    : {
        caller: {
          set: { statement: set, values: { $by: by } },
          ...(clear && { clear: { statement: clear, values: {} } }),
        },
      }

/** What reads the log. A state of it is a snapshot: the transactions that it includes, as PostgreSQL writes them. */
export interface LogReader {
  /** The state now. */
  readonly now: string
  /** What tells this database from one that was restored from it; null until a start has noticed that it was. */
  readonly origin: string
  /** The order of entries, and the number of an entry's transaction. */
  readonly order: readonly string[]
  /** The number of the transaction of an entry, and the state that it has seen, if that is known. */
  readonly transaction: string
  readonly seen: string
  /** So many tables' entries `_l` with some columns, which one state has and another has not, in their order after a place, up to `$count`. */
  entries(tables: number, columns: string): Sql
  entriesValues(names: readonly string[], range: Range): Values
  /** The condition that a state does not have an entry. */
  readonly isAfter: Fragment
  afterValues(from: string): Values
  /** The values of some fields of a row as a JSON object of texts, as entries have them. */
  keys(fields: readonly Field[]): string
}

export interface Place {
  readonly transaction: string
  readonly seq: string
}

export interface Range {
  readonly from: string
  readonly to: string
  /** The last entry that was read. */
  readonly last?: Place | undefined
}

/** The fields on which it depends who may read a row, as texts by their names. */
export type Keys = Readonly<Record<string, string | null>>

export interface Entry {
  readonly seq: bigint
  readonly transaction: bigint
  /** The state that its transaction had seen, if that is known. */
  readonly seen: Snapshot | undefined
  readonly table: string
  readonly id: RowId
  readonly op: LogOperation
  /** In milliseconds. */
  readonly at: number
  /** Undefined where there was no row, and once they are erased. */
  readonly before: Keys | undefined
  readonly after: Keys | undefined
  /** The names of the fields that an update has changed, each with a comma, where a reader may see nothing of it. */
  readonly changed: string | undefined
}

export const entryColumns = ({ transaction, seen }: LogReader): string =>
  `seq, name, id, op, at, old_keys, new_keys, changed, ${transaction} as _transaction, ${seen} as _seen`

const textOf = (cell: Cell | undefined): string | undefined =>
  cell === null || cell === undefined ? undefined : String(cell)

export const parseKeys = (cell: Cell | undefined): Keys | undefined => {
  const text = textOf(cell)
  return text === undefined ? undefined : (JSON.parse(text) as Keys)
}

/** An entry of the columns above. */
export const parseEntry = (cells: readonly Cell[]): Entry => {
  const [seq, name, id, op, at, before, after, changed, transaction, seen] = cells
  return {
    seq: BigInt(String(seq)),
    transaction: BigInt(String(transaction)),
    seen: seen === null || seen === undefined ? undefined : parseSnapshot(String(seen)),
    table: String(name),
    id: String(id),
    op: op as LogOperation,
    at: Number(at),
    before: parseKeys(before),
    after: parseKeys(after),
    changed: textOf(changed),
  }
}
