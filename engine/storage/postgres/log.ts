/**
 * The log of changes on PostgreSQL: its tables, and the triggers that write it. A transaction may commit after others that began later, so
 * that entries have no order that all readers see; a reader knows by a snapshot which transactions it has read.
 */
import { columnIn, servedValue } from '../../descriptor/kinds/index.js'
import type { Field, Resource } from '../../descriptor/registry.js'
import type { CallerStatements } from '../dialect.js'
import { historyFields, type LogReader, logTable, namesChanges } from '../log.js'
import type { OwnTable } from '../migration/migrationDialect.js'
import { type DerivedObject, literal, objectName, quoted } from '../schema.js'
import { rangesBetween } from '../snapshots.js'
import { parameter, sql } from '../sql.js'
import { webhookTables } from '../webhooks.js'
import { prepared } from './prepared.js'
import { pinned } from './sqlFunction.js'

/** Has one row, which its own transaction has written unless the database was restored: then transactions have other numbers. */
const originTable = 'registry_log_origin'

const newOrigin = `insert into ${originTable} default values`
const ofThisServer = `from ${originTable} where xmin = xid::xid`

export const logTables: Readonly<Record<string, OwnTable>> = {
  [logTable]: {
    create: [
      `create table ${logTable} (seq bigint generated always as identity primary key, xid xid8 not null default pg_current_xact_id(),
        snapshot pg_snapshot, name text not null, id text not null, op text not null,
        at bigint not null default round(extract(epoch from clock_timestamp()) * 1000), caller text,
        mark text not null default gen_random_uuid(), before text, after text, old_keys text, new_keys text, changed text)`,
      `create index ${logTable}_xid on ${logTable} (name, xid, seq)`,
      `create index ${logTable}_row on ${logTable} (name, id, seq)`,
    ],
  },
  [originTable]: {
    create: [
      `create table ${originTable} (xid xid8 not null default pg_current_xact_id(), mark text not null default gen_random_uuid())`,
      newOrigin,
    ],
  },
  ...webhookTables('bigint'),
}

/** A restore to an earlier time begins another timeline, on which transactions get the same numbers. */
const timeline = `case when pg_is_in_recovery() then '' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end`

/** Whether the database has not been restored since, and what begins its log anew: its entries get the number of no transaction. */
export const isOfThisServer = `select 1 ${ofThisServer}`
export const renewal = `update ${logTable} set xid = '0';
insert into ${logTable} (name, id, op) select distinct name, '', 'reset' from ${logTable};
delete from ${originTable}; ${newOrigin}`

const callerSetting = 'registry.caller'

export const callerIs: CallerStatements = {
  set: prepared(sql`select set_config('${callerSetting}', ${parameter('$by', 'text')}, true)`),
}

/** In a statement that is a transaction by itself: triggers run at its end. */
export const setCaller = sql`set_config('${callerSetting}', coalesce(${parameter('$by', 'text')}, current_setting('${callerSetting}', true), ''), true)`

const columns = 'name, id, op, caller, snapshot, before, after, old_keys, new_keys, changed'

const served = (field: Field, of: string): string =>
  servedValue(columnIn('postgres', field), `${of}${quoted(field.name)}`)

/** A member for each field, of which a function takes a hundred arguments. */
const rowOf = (fields: readonly Field[], of: string): string =>
  fields.length === 0
    ? 'null'
    : `row_to_json((select _row from (select ${fields.map((field) => `${served(field, of)} as ${quoted(field.name)}`).join(', ')}) as _row))::text`

const keysOf = (fields: readonly Field[], of: string): string =>
  fields.length === 0
    ? 'null'
    : `row_to_json((select _row from (select ${fields.map((field) => `(${served(field, of)})::text as ${quoted(field.name)}`).join(', ')}) as _row))::text`

export const logFunctionName = (resource: Pick<Resource, 'table'>): string => objectName(resource, 'logged')

/** A function of the table, which writes with its owner's rights, so that other writers need none here. */
const logFunction = (resource: Resource) => {
  const { log, fields } = resource
  const values = (of: string) => rowOf(historyFields(resource), of)
  const keys = (of: string) => keysOf(log?.keys ?? [], of)
  const has = (of: string, value: string) => `case when ${of}.id is not null then ${value} end`
  const changed = fields.map(({ name }) => {
    const column = quoted(name)
    return `case when _old.${column}::text is distinct from _new.${column}::text then '${name},' else '' end`
  })
  const insert = (
    rows: string,
    op: string,
    states: readonly string[],
    names = 'null',
  ) => `insert into ${logTable} (${columns})
      select tg_table_name, ${rows}, ${op}, nullif(current_setting('${callerSetting}', true), ''),
        ${log?.isOnPath ? 'pg_current_snapshot()' : 'null'}, ${states.join(', ')}, ${names}`
  const name = `${logFunctionName(resource)}()`
  // Another program may change the id of a row, which then is another row.
  const op = `case when _old.id is null then 'create' when _new.id is null then 'delete' else 'update' end`
  return pinned(
    name,
    `create or replace function ${name} returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    ${insert('_new.id::text', `'create'`, ['null', values('_new.'), 'null', keys('_new.')])}
      from registry_added as _new;
  elsif tg_op = 'DELETE' then
    ${insert('_old.id::text', `'delete'`, [values('_old.'), 'null', keys('_old.'), 'null'])}
      from registry_removed as _old;
  elsif tg_op = 'UPDATE' then
    ${insert(
      'coalesce(_new.id, _old.id)::text',
      op,
      [
        has('_old', values('_old.')),
        has('_new', values('_new.')),
        has('_old', keys('_old.')),
        has('_new', keys('_new.')),
      ],
      namesChanges(resource) ? `case when _old.id = _new.id then ${changed.join(' || ')} end` : 'null',
    )}
      from registry_removed as _old full join registry_added as _new on _new.id = _old.id;
  else
    insert into ${logTable} (name, id, op) values (tg_table_name, '', 'reset');
  end if;
  return null;
end $$`,
    'owner',
  )
}

export const logTriggers = (resource: Resource): DerivedObject[] => {
  if (!resource.log) return []
  const [{ sql: createFunction }, table, run] = [
    logFunction(resource),
    quoted(resource.table),
    `execute function ${logFunctionName(resource)}()`,
  ]
  const trigger = (event: string, rows: string, first = ''): DerivedObject => {
    const name = objectName(resource, `log_${event}`)
    return {
      type: 'trigger',
      name,
      sql: `${first}create or replace trigger ${name} after ${event} on ${table} ${rows} for each statement ${run}`,
    }
  }
  const [added, removed] = ['new table as registry_added', 'old table as registry_removed']
  return [
    trigger('insert', `referencing ${added}`, `${createFunction}; `),
    trigger('update', `referencing ${removed} ${added}`),
    trigger('delete', `referencing ${removed}`),
    trigger('truncate', ''),
  ]
}

export const memberNames = (json: string, table: string): string =>
  `select distinct json_object_keys(${json}::json) as name from ${logTable} where name = ${literal(table)}`

/** By its text: jsonb would order the members of values anew. */
export const withMember = (json: string, from: string, to: string | null): string => {
  const key = to === null ? 'key' : `case key when '${from}' then '${to}' else key end`
  const members = `string_agg(to_json(${key})::text || ':' || value::text, ',' order by place)`
  return `case when ${json} is not null then (select '{' || coalesce(${members}, '') || '}'
    from json_each(${json}::json) with ordinality as _m (key, value, place)${to === null ? ` where key <> '${from}'` : ''}) end`
}

export const resetLog = (table: string): string =>
  `insert into ${logTable} (name, id, op) values (${literal(table)}, '', 'reset')`

export const logReader: LogReader = {
  now: 'pg_current_snapshot()::text',
  origin: `(select mark || ' ' || ${timeline} ${ofThisServer})`,
  order: ['xid', 'seq'],
  transaction: 'xid::text',
  seen: 'snapshot::text',
  // The ranges are those of the transactions that may be new: others would be read again for as long as an old one is open.
  entries: (_, selected) => sql`select _e.* from unnest(${parameter('names', 'text[]')}) as _n (table_name),
      unnest(${parameter('first', 'xid8[]')}, ${parameter('last', 'xid8[]')}) as _r (first, last),
      lateral (select ${selected}, xid as _xid from ${logTable} as _l where name = table_name and xid >= first and xid <= last
        and (xid, seq) > (${parameter('lastXid', 'xid8')}, ${parameter('lastSeq', 'bigint')})
        and pg_visible_in_snapshot(xid, ${parameter('to', 'pg_snapshot')})
        order by xid, seq limit ${parameter('$count', 'integer')}) as _e
    order by _xid, seq limit ${parameter('$count', 'integer')}`,
  entriesValues(names, { from, to, last }) {
    const ranges = rangesBetween(from, to)
    return {
      names,
      to,
      first: ranges.map(([first]) => String(first)),
      last: ranges.map(([, end]) => String(end)),
      lastXid: last?.transaction ?? '0',
      lastSeq: last?.seq ?? '0',
    }
  },
  isAfter: sql`xid >= pg_snapshot_xmin(${parameter('from', 'pg_snapshot')}) and not pg_visible_in_snapshot(xid, ${parameter('from', 'pg_snapshot')})`,
  afterValues: (from) => ({ from }),
  keys: (fields) => keysOf(fields, '_t.'),
}
