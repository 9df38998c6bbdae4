/** The log of changes on SQLite: its tables, and the triggers that write it. Each entry counts as a transaction, because one program writes at a time. */
import { columnIn, servedValue } from '../../descriptor/kinds/index.js'
import type { Field, Resource } from '../../descriptor/registry.js'
import type { CallerStatements } from '../dialect.js'
import { historyFields, type LogOperation, type LogReader, logTable, namesChanges } from '../log.js'
import type { OwnTable } from '../migration/migrationDialect.js'
import { type DerivedObject, literal, objectName, quoted } from '../schema.js'
import { joinSql, parameter, type Sql, sql } from '../sql.js'
import { webhookTables } from '../webhooks.js'
import { compile } from './compile.js'

/** The caller of the transaction that writes; null for other programs. */
const callerTable = 'registry_caller'

export const logTables: Readonly<Record<string, OwnTable>> = {
  [logTable]: {
    create: [
      `create table ${logTable} (seq integer primary key autoincrement, name text not null, id text not null, op text not null,
        at integer not null, caller text, mark text not null, before text, after text, old_keys text, new_keys text, changed text)`,
      `create index ${logTable}_name on ${logTable} (name, seq)`,
      `create index ${logTable}_row on ${logTable} (name, id, seq)`,
    ],
  },
  [callerTable]: {
    create: [`create table ${callerTable} (name text)`, `insert into ${callerTable} values (null)`],
  },
  ...webhookTables('integer'),
}

export const callerIs: CallerStatements = {
  set: compile(sql`update ${callerTable} set name = ${parameter('$by')}`),
  clear: compile(`update ${callerTable} set name = null`),
}

/** In milliseconds. SQLite 3.40, with which other programs may write, has no finer clock. */
const now = `cast(round((julianday('now') - 2440587.5) * 86400000) as integer)`

const columns = 'name, id, op, at, caller, mark, before, after, old_keys, new_keys, changed'

/** A value as its JSON has it. Other programs have no function that prints numbers of many digits; whoever reads the log prints these again. */
const served = (field: Field, of: string): string => {
  const column = columnIn('sqlite', field)
  const { isPortable } = column
  const json = (name: string) => `case when ${isPortable?.(name)} then ${name} else json(printf('%!.17g', ${name})) end`
  return servedValue(isPortable ? { ...column, json } : column, `${of}${quoted(field.name)}`)
}

const jsonObject = (fields: readonly Field[], value: (field: Field) => string): string =>
  fields.length === 0 ? 'null' : `json_object(${fields.map((field) => `'${field.name}', ${value(field)}`).join(', ')})`

const keysOf = (fields: readonly Field[], of: string): string =>
  jsonObject(fields, (field) => `cast(${served(field, of)} as text)`)

const entry = (resource: Resource, op: LogOperation): string => {
  const { table, log, fields } = resource
  const row = op === 'delete' ? 'old' : 'new'
  const values = (of: string) => jsonObject(historyFields(resource), (field) => served(field, of))
  const states = (of: (prefix: string) => string) => [
    op === 'create' ? 'null' : of('old.'),
    op === 'delete' ? 'null' : of('new.'),
  ]
  const changed = fields.map(({ name }) => {
    const column = quoted(name)
    return `case when old.${column} is not new.${column} then '${name},' else '' end`
  })
  return [
    literal(table),
    `cast(${row}.id as text)`,
    `'${op}'`,
    now,
    `(select name from ${callerTable})`,
    'hex(randomblob(8))',
    ...states(values),
    ...states((of) => keysOf(log?.keys ?? [], of)),
    op === 'update' && namesChanges(resource) ? changed.join(' || ') : 'null',
  ].join(', ')
}

export const logTriggers = (resource: Resource): DerivedObject[] => {
  if (!resource.log) return []
  const trigger = (event: 'insert' | 'update' | 'delete', entries: readonly string[]): DerivedObject => {
    const name = objectName(resource, `log_${event}`)
    const body = entries.map((values) => `insert into ${logTable} (${columns}) select ${values};`).join(' ')
    const sql = `create trigger ${name} after ${event} on ${quoted(resource.table)} begin ${body} end`
    return { type: 'trigger', name, sql }
  }
  // Another program may change the id of a row, which then is another row.
  const isSame = 'where old.id is new.id'
  const isOther = 'where old.id is not new.id'
  return [
    trigger('insert', [entry(resource, 'create')]),
    trigger('update', [
      `${entry(resource, 'update')} ${isSame}`,
      `${entry(resource, 'delete')} ${isOther}`,
      `${entry(resource, 'create')} ${isOther}`,
    ]),
    trigger('delete', [entry(resource, 'delete')]),
  ]
}

export const memberNames = (json: string, table: string): string =>
  `select distinct key as name from ${logTable} as _l, json_each(_l.${json}) where _l.name = ${literal(table)}`

export const withMember = (json: string, from: string, to: string | null): string => {
  const rest = `json_remove(${json}, '$.${from}')`
  const renamed = `json_set(${rest}, '$.${to}', json(${json} -> '${from}'))`
  return to === null ? rest : `case when ${json} -> '${from}' is null then ${json} else ${renamed} end`
}

export const resetLog = (table: string): string =>
  `insert into ${logTable} (name, id, op, at, mark) values (${literal(table)}, '', 'reset', ${now}, hex(randomblob(8)))`

const state = (next: string): string => `(${next}) || ':' || (${next}) || ':'`
const place = (snapshot: string): bigint => BigInt(snapshot.split(':')[1] as string)

export const logReader: LogReader = {
  now: `(select ${state('coalesce(max(seq), 0) + 1')} from ${logTable})`,
  origin: `''`,
  order: ['seq'],
  transaction: 'seq',
  seen: state('seq'),
  entries(tables, selected): Sql {
    const ofTable = (
      n: number,
    ) => sql`select * from (select ${selected} from ${logTable} as _l where name = ${parameter(`name${n}`)}
      and seq > ${parameter('last')} and seq < ${parameter('end')} order by seq limit ${parameter('$count')})`
    return sql`${joinSql(
      Array.from({ length: tables }, (_, n) => ofTable(n)),
      ' union all ',
    )} order by seq limit ${parameter('$count')}`
  },
  entriesValues: (names, { from, to, last }) => ({
    ...Object.fromEntries(names.map((name, n) => [`name${n}`, name])),
    last: last ? BigInt(last.seq) : place(from) - 1n,
    end: place(to),
  }),
  isAfter: sql`seq >= ${parameter('from')}`,
  afterValues: (from) => ({ from: place(from) }),
  keys: (fields) => keysOf(fields, ''),
}
