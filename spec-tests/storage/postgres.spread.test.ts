/**
 * Without derived objects, tables may be distributed over several servers, as Citus does. Such a cluster takes fewer constructs than
 * PostgreSQL: every statement of every operation is checked here for those that it lacks, without a cluster.
 */
import { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { spreadTables } from '../support/comparedRequests.js'
import { differencesFromSqlite } from '../support/compareServices.js'
import { freshUrl } from '../support/database.js'

/** A query within a statement: its text, with `§` for the queries in it; and these, each a table after FROM or part of an expression. */
interface Scope {
  readonly text: string
  readonly inner: readonly { readonly scope: Scope; readonly isTable: boolean; readonly isCte: boolean }[]
}

/** The query that begins at a place, and where it ends. */
const parse = (sql: string, from: number): [scope: Scope, end: number] => {
  let [text, depth, at] = ['', 0, from]
  const inner: Scope['inner'][number][] = []
  for (; at < sql.length; at++) {
    if (/^\(\s*(?:select|with|insert|update|delete)\b/.test(sql.slice(at, at + 20))) {
      const [scope, end] = parse(sql, at + 1)
      const isCte = /\bas (?:materialized )?$/.test(text)
      inner.push({ scope, isCte, isTable: /\b(?:from|join)\s*$/.test(text) })
      text += '§'
      at = end
    } else if (sql[at] === ')' && depth-- === 0) break
    else {
      if (sql[at] === '(') depth++
      text += sql[at]
    }
  }
  return [{ text, inner }, at]
}

const tables = new RegExp(`\\b(?:from|join|into|update) "?(?:${spreadTables.join('|')})"?(?![\\w"])`)
/** Whether a query reads rows that are on several servers: itself, or as a table of its own. */
const isSpread = ({ text, inner }: Scope): boolean =>
  tables.test(text) || inner.some(({ scope, isTable }) => isTable && isSpread(scope))
/** Whether one server has the row that a query reads. */
const isOfOneServer = ({ text }: Scope): boolean => /\bid"? = (?:cast\()?\$\d+/.test(text)

const withInner = (scope: Scope): Scope[] => [scope, ...scope.inner.flatMap((one) => withInner(one.scope))]
const hasNoTable = ({ text }: Scope): boolean => !/\bfrom\b/.test(text)
/** Whether a query uses a table of one around it. */
const isCorrelated = ({ text }: Scope): boolean =>
  [...text.matchAll(/\b(_[a-z]+)\./g)].some(([, name]) => !new RegExp(`\\bas ${name}\\b`).test(text))

const violationsIn = (scope: Scope): string[] => {
  const { text, inner } = scope
  const found = inner.flatMap((one) => violationsIn(one.scope))
  const refuse = (isRefused: boolean, what: string) => isRefused && found.push(what)
  const expressions = inner.filter(({ isTable, isCte }) => !isTable && !isCte).map((one) => one.scope)
  const isMany = isSpread(scope) && !isOfOneServer(scope)
  refuse(/\b(?:limit|offset)\b[^)]*§/.test(text) && isMany, 'a subquery in LIMIT')
  refuse(/\bfor (?:no key )?(?:update|share)\b/.test(text) && isMany, 'FOR UPDATE of several rows')
  refuse(
    inner.some(({ scope: { text }, isCte }) => isCte && /^\s*(?:insert|update|delete)\b/.test(text)),
    'a CTE that changes data',
  )
  refuse(isMany && expressions.flatMap(withInner).some(hasNoTable), 'a subquery without FROM')
  refuse(
    expressions.some((one) => isSpread(one) && isCorrelated(one)),
    'a correlated subquery',
  )
  refuse(
    /^\s*insert into\b.*\bselect\b/.test(text) &&
      /\breturning\b/.test(text) &&
      !/^\s*insert into \S+ \([^)]*"id"/.test(text),
    'RETURNING of several rows, whose order is needed',
  )
  refuse(/\breturning\b.*json/.test(text), 'JSON in RETURNING')
  refuse(/^\s*update\b.*\bset\b.*_e\.value/.test(text), 'an UPDATE that computes its values of other columns')
  return found
}

const findViolations = (sql: string): string[] => violationsIn(parse(sql.replaceAll(/\s+/g, ' '), 0)[0])

// biome-ignore format: one list
const refused: readonly (readonly [sql: string, violation: string])[] = [
  ['select id from "tasks" order by id limit case when (select count(*) from registry_few) < 3 then 1 else 0 end', 'a subquery in LIMIT'],
  ['select id from (select * from "tasks" where id is not null) as _t where id = any($1) order by id for update', 'FOR UPDATE of several rows'],
  ['with _made as (insert into "tasks" ("id") values ($1) returning id) select * from _made', 'a CTE that changes data'],
  ['select row_to_json((select _row from (select id, title) as _row))::text from "tasks" as _t', 'a subquery without FROM'],
  ["select n from (select 1 as n, exists (select 1 from \"labels\" as _s where id = cast(_e.value ->> 0 as text)) as x from jsonb_array_elements($1) as _e) as _c", 'a correlated subquery'],
  ['insert into "tasks" ("title") select _e.value ->> 0 from jsonb_array_elements($1) as _e order by 1 returning "id"', 'RETURNING of several rows, whose order is needed'],
  ['update "tasks" set "due" = cast(_e.value ->> 1 as date) from jsonb_array_elements($1) as _e where "tasks"."id" = cast(_e.value ->> 0 as bigint)', 'an UPDATE that computes its values of other columns'],
]

const taken: readonly string[] = [
  'select json from (select * from "tasks") as _t where id = $1 for update',
  'with registry_read as materialized (select * from "tasks" as _t where id = any(array(select id from registry_shown))) select row_to_json((select _row from (select id) as _row)) from registry_read as _t',
  'insert into "tasks" ("id", "title") select 1, 2 from jsonb_array_elements($1) as _e returning "id"',
]

const test = suite('Statements of tables that may be distributed')

test('each construct that a cluster lacks is found', () => {
  for (const [sql, violation] of refused) assert.ok(findViolations(sql).includes(violation), `${violation}: ${sql}`)
  for (const sql of taken) assert.equal(findViolations(sql), [], sql)
})

test('no operation uses one, and all have the answers that they have on SQLite', async () => {
  const statements = new Set<string>()
  const { query } = Client.prototype
  Client.prototype.query = function (this: Client, ...given: unknown[]) {
    const [sent] = given as [string | { text: string }]
    statements.add(typeof sent === 'string' ? sent : sent.text)
    return (query as (...given: unknown[]) => unknown).apply(this, given)
  } as never
  const url = await freshUrl()
  const differences = await differencesFromSqlite({ url, derivedObjects: false })
  Client.prototype.query = query
  const found = [...statements].filter((sql) => /^\s*(?:select|with|insert|update|delete)\b/.test(sql))
  assert.ok(found.length > 100, 'the statements are seen')
  assert.equal(
    found.flatMap((sql) => findViolations(sql).map((violation) => `${violation}: ${sql}`)),
    [],
  )
  assert.equal(differences, [])
})

test.run()
