/** The history of a row: the entries of the log about it, as somebody may read them. */
import { allRights, type Rights, type RowRule } from '../descriptor/access.js'
import { memberTexts } from '../descriptor/jsonText.js'
import { historyDays } from '../descriptor/logging.js'
import type { Field, Registry, Resource, RowId } from '../descriptor/registry.js'
import { rulePath } from '../descriptor/rulePaths.js'
import type { Cell, Dialect, OwnRunner } from './dialect.js'
import { clampedInteger } from './list.js'
import { logTable } from './log.js'
import { literal, resourceAt } from './schema.js'
import { type Fragment, joinSql, parameter, sql, type Values } from './sql.js'
import type { History, HistoryEntry, HistoryQuery, Storage } from './storage.js'

const dayMs = 24 * 60 * 60 * 1000

/** The members of a row as it was, as JSON texts. */
type State = ReadonlyMap<string, string>

const stateOf = (json: Cell | undefined): State | undefined =>
  json === null || json === undefined ? undefined : memberTexts(String(json))

/** The names that a field has in the log, the newest first. */
const loggedNames = ({ name, renamedFrom }: Field, { fields }: Resource): string[] =>
  renamedFrom === undefined || fields.some((field) => field.name === renamedFrom) ? [name] : [name, renamedFrom]

const valueIn = (resource: Resource, state: State, field: Field): string | undefined =>
  loggedNames(field, resource)
    .map((name) => state.get(name))
    .find((text) => text !== undefined)

/** The value of a JSON text, as a text; digits stay as they are. */
const textOf = (json: string | undefined): string | undefined => {
  if (json === undefined || json === 'null') return undefined
  return json.startsWith('"') ? JSON.parse(json) : json
}

/** The fields of a resource that a reader sees in its history. */
const seenFields = (resource: Resource, rights: Rights): Field[] => {
  const { hidden } = rights.of(resource)
  return resource.fields.filter(({ name, redacted }) => !redacted && !hidden.includes(name))
}

interface Parts {
  readonly registry: Registry
  readonly dialect: Dialect
  readonly own: OwnRunner
  readonly table: Storage['table']
}

export const createHistory = ({ registry, dialect, own, table }: Parts): Storage['history'] => {
  const ask = (query: Fragment, values: Values) => own.read(dialect.compile(query), values)
  const ofRow = sql`name = ${parameter('name', 'text')} and id = ${parameter('id', 'text')} and at > ${parameter('since', 'bigint')}`

  const holds = async (resource: Resource, state: State, rule: RowRule): Promise<boolean> => {
    for (const [name, values] of Object.entries(rule)) {
      let [at, row]: [Resource, State] = [resource, state]
      const path = rulePath(resource, name)
      for (const reference of path.slice(0, -1)) {
        const id = textOf(valueIn(at, row, reference))
        at = resourceAt(registry, reference.references as string)
        const referenced = id === undefined ? undefined : await table(at).get(id)
        if (!referenced) return false
        row = memberTexts(String(referenced.body))
      }
      const value = textOf(valueIn(at, row, path.at(-1) as Field))
      if (!values.some((allowed) => String(allowed) === value)) return false
    }
    return true
  }

  /** Whether somebody might have read a row when it was last there; of what was erased only the service knows. */
  const mightRead = async (resource: Resource, state: State | undefined, rights: Rights): Promise<boolean> => {
    if (rights === allRights) return true
    if (!state) return false
    const { read } = rights.of(resource)
    if (read === 'all') return true
    for (const rule of read) if (await holds(resource, state, rule)) return true
    return false
  }

  /** The last entries of the rows that have had the id, the newest first, each with the row as it was then. */
  const lastEntries = async (values: Values) => {
    const rows = await ask(
      sql`select seq, op, case op when 'delete' then before else after end from (
          select seq, op, before, after, lead(op) over (order by seq) as next from ${logTable} where ${ofRow}
        ) as _e where op = 'delete' or next is null or next = 'create' order by seq desc`,
      values,
    )
    return rows.map(([seq, op, json]) => ({ seq: String(seq), op, state: stateOf(json) }))
  }

  /** The position after which a reader may read the entries; undefined if there is nothing that it may read. */
  const readableAfter = async (resource: Resource, id: RowId, rights: Rights, values: Values) => {
    const isThere = (await table(resource).get(id)) !== undefined
    if (isThere && !(await table(resource, [], rights).get(id))) return undefined
    const ends = await lastEntries(values)
    const former = isThere && ends[0]?.op !== 'delete' ? ends.slice(1) : ends
    for (const [n, { seq, state }] of former.entries())
      if (!(await mightRead(resource, state, rights))) return isThere || n > 0 ? seq : undefined
    return isThere || former.length > 0 ? '0' : undefined
  }

  /** The condition that an entry shows something to a reader. */
  const showsAny = (resource: Resource, fields: readonly Field[], isWhole: boolean): Fragment => {
    const member = (json: string, field: Field) =>
      loggedNames(field, resource).map((name) => dialect.jsonMember(json, literal(name)))
    const differs = fields.map((field) => {
      const [before, after] = [member('before', field), member('after', field)].map((members) => members.join(', '))
      return `coalesce(${before}, 'null') <> coalesce(${after}, ${before}, 'null')`
    })
    return joinSql([`op <> 'update'`, ...(isWhole ? ['before is null'] : []), ...differs], ' or ')
  }

  /** A value as the API serves it. */
  const served = (field: Field, text: string): string =>
    dialect.servedNumber && dialect.columnOf(field).isPortable && text !== 'null' ? dialect.servedNumber(text) : text

  const entryOf = (resource: Resource, fields: readonly Field[], row: readonly Cell[]): HistoryEntry => {
    const [seq, at, by, op, beforeJson, afterJson] = row
    const [before, after] = [stateOf(beforeJson), stateOf(afterJson)]
    const seen = (state: State | undefined) =>
      new Map(
        fields.flatMap((field) => {
          const text = state && valueIn(resource, state, field)
          return text === undefined ? [] : [[field.name, served(field, text)]]
        }),
      )
    const [old, now] = [seen(before), seen(after)]
    const changed = fields.flatMap(({ name }): [string, [string, string]][] => {
      const from = old.get(name) ?? 'null'
      const to = now.get(name) ?? (op === 'update' ? from : 'null')
      return from === to ? [] : [[name, [from, to]]]
    })
    const isKept = before !== undefined || after !== undefined
    return {
      position: String(seq),
      at: Number(at),
      by: by === null || by === undefined ? null : String(by),
      op: op as HistoryEntry['op'],
      changed: new Map(changed),
      row: isKept ? new Map([...old, ...now]) : undefined,
    }
  }

  return async (resource: Resource, id: RowId, { rights, limit, offset, position }: HistoryQuery) => {
    const since = Date.now() - (historyDays(resource) ?? 0) * dayMs
    const values = { name: resource.table, id, since }
    const first = await readableAfter(resource, id, rights, values)
    if (first === undefined) return undefined
    const fields = seenFields(resource, rights)
    const isWhole = rights.of(resource).hidden.length === 0
    const isChosen = position === undefined ? '' : sql` and seq = ${parameter('position', 'bigint')}`
    const from = sql`from ${logTable} where ${ofRow} and seq > ${parameter('first', 'bigint')}${isChosen} and (${showsAny(resource, fields, isWhole)})`
    const all = { ...values, first, position, limit, offset: clampedInteger(offset) }
    const [counted] = await ask(sql`select count(*) ${from}`, all)
    const rows = await ask(
      sql`select seq, at, caller, op, before, after ${from} order by seq desc limit ${parameter('limit', 'bigint')} offset ${parameter('offset', 'bigint')}`,
      all,
    )
    const entries = rows.map((row) => entryOf(resource, fields, row))
    return { entries, total: Number(counted?.[0]) } satisfies History
  }
}
