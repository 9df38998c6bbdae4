/**
 * Whether somebody saw rows at some time, by the values that the log has kept of them and of the rows that they reference. The
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

/** So many changes can be gone through for one row. */
const maxEntries = 1_000

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

  /** Which rows some rules have allowed to read at some time since a state of the log; throws Resync if that is no longer known. */
  return async (
    resource: Resource,
    rules: readonly RowRule[],
    from: string,
    ids: readonly RowId[],
  ): Promise<readonly RowId[]> => {
    if (ids.length === 0) return []
    const rows = new Map<string, Map<RowId, LoggedRow>>()
    const rowsOf = ({ table }: Resource): Map<RowId, LoggedRow> => {
      const known = rows.get(table) ?? new Map<RowId, LoggedRow>()
      rows.set(table, known)
      return known
    }
    await load(resource, ids, from, rowsOf(resource))
    const paths = [...new Set(rules.flatMap((rule) => Object.keys(rule)))].map((name) => rulePath(resource, name))
    /** The rows that some rows have referenced at some time. */
    const referencedBy = (at: Resource, found: readonly RowId[], { name }: Field): RowId[] => {
      const states = found.flatMap((id) => {
        const { now, entries = [] } = rowsOf(at).get(id) ?? {}
        return [now, ...entries.flatMap(({ before, after }) => [before, after])]
      })
      return [...new Set(states.flatMap((keys) => keys?.[name] ?? []))]
    }
    const targetOf = ({ references }: Field) => resourceAt(registry, String(references))
    for (const path of paths) {
      let [at, found]: [Resource, readonly RowId[]] = [resource, ids]
      for (const field of path.slice(0, -1)) {
        found = referencedBy(at, found, field)
        at = targetOf(field)
        await load(at, found, from, rowsOf(at))
      }
    }
    /** When the row, or one that it has referenced, was changed. */
    const timesOf = (id: RowId): Time[] => {
      const entries = new Set(rowsOf(resource).get(id)?.entries)
      for (const path of paths) {
        let [at, found]: [Resource, readonly RowId[]] = [resource, [id]]
        for (const field of path.slice(0, -1)) {
          found = referencedBy(at, found, field)
          at = targetOf(field)
          for (const entry of found.flatMap((one) => rowsOf(at).get(one)?.entries ?? [])) entries.add(entry)
        }
      }
      if (entries.size > maxEntries) throw new Resync()
      return [...entries].flatMap((entry) => [false, true].map((isEnd): Time => ({ entry, isEnd })))
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
        if (n < path.length - 1) at = targetOf(field)
      }
      return values
    }
    const holds = (rule: RowRule, id: RowId, time: Time): boolean =>
      Object.entries(rule).every(([name, allowed]) => {
        const path = rulePath(resource, name)
        const values = valuesAt(path, id, time)
        return allowed.some((value) => [...values].some((text) => isSame(path.at(-1) as Field, text, value)))
      })
    return ids.filter((id) => {
      const times = timesOf(id)
      return rules.some((rule) => times.some((time) => holds(rule, id, time)))
    })
  }
}
