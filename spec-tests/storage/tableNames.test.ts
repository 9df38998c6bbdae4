/** The names of tables and of the objects derived from them, on both databases: distinct, or refused with what has the name. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { newRow } from '../../engine/descriptor/registry.js'
import { planStorage } from '../../engine/storage/open.js'
import { server, sharedDatabase } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { open, refusal, team } from '../support/members.js'
import { resourceIn } from '../support/registryFrom.js'

const test = suite('names of tables')

test('indexes, triggers and tables that are derived from two resources have different names', async () => {
  const { url } = await sharedDatabase()
  const fields = { json: text({ filter: true }), search: text({ filter: true, unique: true }), search_id: integer() }
  const registry = [
    resourceIn('members', { ...fields, filter_search: text({ filter: true }), b: text({ unique: ['search'] }) }),
    resourceIn('members_filter', fields),
    resourceIn('members_filter_filter', fields),
    resourceIn('members_unique', fields),
    resourceIn('members_unique_search', { b: text({ filter: true }) }),
  ]
  for (let n = 0; n < 2; n++) {
    const storage = await open(registry, url)
    for (const resource of registry) {
      const first = Object.fromEntries(resource.fields.map(({ name, kind }) => [name, kind === 'text' ? `x${n}` : n]))
      assert.ok('id' in (await storage.table(resource).write(insertion(newRow(resource, first)))))
      assert.is((await storage.counts()).get(resource), n + 1)
    }
    await storage.close()
    assert.equal((await planStorage(registry, url, 5_000)).steps, [])
  }
})

/** What may have the name of a descriptor's table, as another program creates it. */
const others: readonly [what: RegExp, sql: readonly string[]][] = [
  [/a table/, ['create table people (id integer primary key, name text)']],
  [/a view/, ['create view people as select * from teams']],
  [/an index/, ['create index people on teams (name)']],
  ...((server
    ? [
        [/a materialized view/, ['create materialized view people as select * from teams']],
        [/a sequence/, ['create sequence people']],
        [/a type/, ["create type people as enum ('a')"]],
        [/a partitioned table/, ['create table people (id bigint primary key, name text) partition by hash (id)']],
        [
          /a partition of another table/,
          [
            'create table groups (id bigint primary key, name text) partition by hash (id)',
            'create table people partition of groups for values with (modulus 1, remainder 0)',
          ],
        ],
        [
          /a table that takes part in inheritance/,
          ['create table people (id bigint primary key, name text)', 'create table men () inherits (people)'],
        ],
      ]
    : [[/a virtual table/, ['create virtual table people using fts5(name)']]]) as [RegExp, string[]][]),
]
for (const [what, sql] of others) {
  test(`${what.source} with the name of a table is named, and nothing is changed`, async () => {
    const database = await sharedDatabase()
    const { url } = database
    await (await open([team], url)).close()
    for (const statement of sql) await database.run(statement)
    const people = [team, resourceIn('people', { name: text() })]
    const advice = /index|sequence|type/.test(what.source) ? 'Set table' : 'To serve it as it is, write existing: true'
    const message = new RegExp(
      `table "people": "people" is ${what.source} that this service did not create\\. ${advice}`,
    )
    for (const approvals of [undefined, []]) assert.match(await refusal(people, url, approvals), message)
    const { differences } = await planStorage(people, url, 5_000)
    assert.is(differences.length, 1)
    assert.is(await refusal([team], url), 'not refused')
  })
}

test.run()
