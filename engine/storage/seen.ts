/**
 * Whether somebody saw rows at the time of a change, by the values that the log has kept of them and of the rows that they reference. The
 * state of a row at a time is what the next entry about it says of before or, if there is none, the row as it is now.
 */
import type { RowRule } from '../descriptor/access.js'
import { isExact, isNumber, isWhole, type ParameterValue } from '../descriptor/kinds/index.js'
import { type Field, idField, type Registry, type Resource, type RowId } from '../descriptor/registry.js'
import { rulePath } from '../descriptor/rulePaths.js'
import { buildOnce } from '../process/buildOnce.js'
import type { Dialect, OwnRunner } from './dialect.js'
import { type Entry, entryColumns, type Keys, type LogReader, logTable, parseEntry, parseKeys } from './log.js'
import { Resync } from './position.js'
import { quoted, resourceAt } from './schema.js'
import { hasTransaction } from './snapshots.js'
import { parameter, type Statement, sql } from './sql.js'

export interface LogAccess {
  readonly registry: Registry
  readonly dialect: Dialect
  readonly own: OwnRunner
  readonly log: LogReader
}

/** A row that may have been changed by what an entry tells. */
export interface Candidate {
  readonly entry: Entry
  readonly id: RowId
}

/** A row as it is now, and what has happened to it since the position of the reader. */
interface LoggedRow {
  readonly now: Keys | undefined
  readonly entries: readonly Entry[]
}

/** The end of a transaction, or its beginning. */
interface Time {
  readonly entry: Entry
  readonly isEnd: boolean
}

/** Ids as their column takes them. */
export const boundIds = (dialect: Dialect, field: Field, ids: readonly RowId[]): unknown =>
  dialect.bindList(ids.map((id) => (isWhole(field) ? BigInt(id) : id)))

const isErased = ({ op, before, after }: Entry): boolean =>
  (op !== 'create' && before === undefined) || (op !== 'delete' && after === undefined)

const isSame = (field: Field, text: string, value: ParameterValue): boolean =>
  text === String(value) || (isNumber(field) && !isExact(field) && Number(text) === value)

/** Whether an entry is about something before a time, or after it; undefined where two transactions ran at the same time. */
const isBefore = (one: Entry, { entry, isEnd }: Time): boolean | undefined => {
  if (one.transaction === entry.transaction) return isEnd
  // A row is locked until the end of the transaction that changes it.
  if (one.table === entry.table && one.id === entry.id) return one.seq < entry.seq
  if (one.seen !== undefined && hasTransaction(one.seen, entry.transaction)) return false
  if (entry.seen !== undefined && hasTransaction(entry.seen, one.transaction)) return true
  return undefined
}

/** What a row may have been at a time. */
const statesAt = ({ now, entries }: LoggedRow, time: Time): (Keys | undefined)[] => {
  const next = entries.find((entry) => isBefore(entry, time) === false)
  const meanwhile = entries.filter((entry) => isBefore(entry, time) === undefined)
  return [next ? next.before : now, ...meanwhile.flatMap(({ before, after }) => [before, after])]
}

export const seenReader = ({ registry, dialect, own, log }: LogAccess) => {
  const { compile } = dialect
  const once = buildOnce<Statement>()
  const rowsNow = (resource: Resource) => {
    const ids = dialect.isIn(parameter('$ids', dialect.typeOf(idField(resource), true)))
    const keys = log.keys(resource.log?.keys ?? [])
    return once(resource.path, () =>
      compile(sql`select cast(id as text), ${keys} from ${quoted(resource.table)} as _t where id ${ids}`),
    )
  }
  const entriesSince =
    compile(sql`select ${entryColumns(log)} from ${logTable} as _l where name = ${parameter('$name', 'text')}
    and id ${dialect.isIn(parameter('$ids'))} and ${log.isAfter} order by seq`)

  /** Reads the rows first: a change that comes in between has an entry. */
  const load = async (resource: Resource, ids: readonly RowId[], from: string, into: Map<RowId, LoggedRow>) => {
    const missing = ids.filter((id) => !into.has(id))
    if (missing.length === 0) return
    const now = await own.read(rowsNow(resource), { $ids: boundIds(dialect, idField(resource), missing) })
    const found = await own.read(entriesSince, {
      ...log.afterValues(from),
      $name: resource.table,
      $ids: dialect.bindList(missing),
    })
    const entries = found.map(parseEntry)
    if (entries.some(isErased)) throw new Resync()
    const nowById = new Map(now.map(([id, keys]) => [String(id), parseKeys(keys)]))
    for (const id of missing)
      into.set(id, { now: nowById.get(id), entries: entries.filter((entry) => entry.id === id) })
  }

  /** Which of the candidates some rules allowed to read before a change, or after it; throws Resync if that is no longer known. */
  return async (
    resource: Resource,
    rules: readonly RowRule[],
    from: string,
    candidates: readonly Candidate[],
  ): Promise<boolean[]> => {
    if (candidates.length === 0) return []
    const rows = new Map<string, Map<RowId, LoggedRow>>()
    const rowsOf = ({ table }: Resource): Map<RowId, LoggedRow> => {
      const known = rows.get(table) ?? new Map<RowId, LoggedRow>()
      rows.set(table, known)
      return known
    }
    const ids = [...new Set(candidates.map(({ id }) => id))]
    await load(resource, ids, from, rowsOf(resource))
    const names = [...new Set(rules.flatMap((rule) => Object.keys(rule)))]
    for (const name of names) {
      let [at, found] = [resource, ids]
      for (const field of rulePath(resource, name).slice(0, -1)) {
        const referenced = new Set<RowId>()
        for (const id of found) {
          const { now, entries = [] } = rowsOf(at).get(id) ?? {}
          for (const keys of [now, ...entries.flatMap(({ before, after }) => [before, after])]) {
            const reference = keys?.[field.name] ?? undefined
            if (reference !== undefined) referenced.add(reference)
          }
        }
        ;[at, found] = [resourceAt(registry, String(field.references)), [...referenced]]
        await load(at, found, from, rowsOf(at))
      }
    }
    /** The values that a rule may have compared. */
    const valuesAt = (path: readonly Field[], id: RowId, time: Time): Set<string> => {
      let [at, values] = [resource, new Set([id])]
      for (const [n, field] of path.entries()) {
        const known = rowsOf(at)
        const next = new Set<string>()
        for (const value of values)
          for (const keys of statesAt(known.get(value) as LoggedRow, time)) {
            const text = keys?.[field.name] ?? undefined
            if (text !== undefined) next.add(text)
          }
        values = next
        if (n < path.length - 1) at = resourceAt(registry, String(field.references))
      }
      return values
    }
    const holds = (rule: RowRule, id: RowId, time: Time): boolean =>
      Object.entries(rule).every(([name, allowed]) => {
        const path = rulePath(resource, name)
        const values = valuesAt(path, id, time)
        return allowed.some((value) => [...values].some((text) => isSame(path.at(-1) as Field, text, value)))
      })
    return candidates.map(({ entry, id }) =>
      [false, true].some((isEnd) => rules.some((rule) => holds(rule, id, { entry, isEnd }))),
    )
  }
}
