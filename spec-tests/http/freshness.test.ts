/** Reads follow every write at once, whichever program made it: tags, cached responses, totals, searches and pages. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Field, Resource } from '../../engine/descriptor/registry.js'
import { sharedDatabase } from '../support/database.js'
import { office, startOffice } from '../support/office.js'

const otherClient = await sharedDatabase()
const one = await startOffice({ url: otherClient.url })
const other = await startOffice({ url: otherClient.url })

const test = suite('fresh reads')

test('a tag and the cached responses change with any row, whichever program wrote it', async () => {
  const target = '/api/v1/departments?limit=200'
  let total = (await one.send(target)).body.meta.total
  for (const [sql, added] of [
    ["insert into departments (name) values ('By another program')", 1],
    ["update departments set name = name || '!' where id = 1", 0],
    ['delete from departments where id = (select max(id) from departments)', -1],
  ] as const) {
    for (let n = 0; n < 3; n++) await one.send(target)
    const before = await one.send(target)
    await otherClient.run(sql)
    total += added
    for (const service of [one, other]) {
      const after = await service.send(target)
      assert.is.not(after.headers.etag, before.headers.etag)
      assert.is(after.body.meta.total, total)
      assert.equal(after.body.data, await otherClient.run('select id, name from departments order by id'))
    }
  }
})

test('a search for the text of a filter is not served from the cache of that filter', async () => {
  const target = '/api/v1/jobs?status=Open&q=a'
  for (let n = 0; n < 3; n++) assert.ok((await one.send(target)).body.meta.total > 0)
  const q = encodeURIComponent('status="Open"&a')
  assert.is((await one.send(`/api/v1/jobs?q=${q}`)).body.meta.total, 0)
  assert.is((await one.send(`/api/v1/jobs?q=${encodeURIComponent('status="Open"&q=a')}`)).body.meta.total, 0)
})

const shaped = office.find(({ path }) => path === 'leave') as Resource
const fieldOf = (name: string) => shaped.fields.find((field) => field.name === name) as Field
const [optional, moved] = [fieldOf('reason'), fieldOf('days')]
const redacted: Field = { ...optional, redacted: true }
const shapes: [change: string, fields: readonly Field[]][] = [
  ['a field was added', [...shaped.fields, { ...optional, name: 'added_later' }]],
  ['a field was redacted', shaped.fields.map((field) => (field === optional ? redacted : field))],
  // Nothing changes in a PostgreSQL database.
  ['a field was moved', shaped.fields.toSorted((a, b) => Number(a === moved) - Number(b === moved))],
]
for (const [change, fields] of shapes) {
  test(`a tag changes with the shape of the rows: ${change}`, async () => {
    const { url } = await sharedDatabase()
    const changed = office.map((resource) => (resource === shaped ? { ...resource, fields } : resource))
    const before = await (await startOffice({ url })).get(`/v1/${shaped.path}`)
    const after = await (await startOffice({ url, registry: changed })).get(`/v1/${shaped.path}`)
    assert.is.not(after.text, before.text)
    assert.is.not(after.headers.etag, before.headers.etag)
  })
}

const oddIds: [about: string, ids: readonly bigint[]][] = [
  ['beyond 2^53', [2n ** 53n + 3n, 2n ** 53n + 5n, 2n ** 53n + 7n]],
  ['the largest', [2n ** 63n - 1n]],
  ['from the smallest to the largest', [-(2n ** 63n), -5n, 0n, 7n, 2n ** 53n + 3n, 2n ** 63n - 1n]],
]
for (const [about, ids] of oddIds) {
  test(`rows with ids that another program chose are listed and found: ${about}`, async () => {
    const { url, run } = await sharedDatabase()
    const { get } = await startOffice({ url })
    await run('delete from attendance')
    for (const id of ids) await run(`insert into attendance (id, att_date, status) values (${id}, 'x', 'found')`)
    for (const query of ['', 'q=found&', 'status=found&']) {
      for (let offset = 0; offset <= ids.length; offset++) {
        const { text } = await get(`/v1/attendance?${query}limit=2&offset=${offset}`)
        const listed = [...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => BigInt(id as string))
        assert.equal(listed, ids.slice(offset, offset + 2), `${query}offset=${offset}`)
      }
    }
    for (const id of ids) {
      const { status, text } = await get(`/v1/attendance/${id}`)
      assert.equal([status, text.includes(`{"id":${id},`)], [200, true], String(id))
    }
    for (const id of [2n ** 53n + 4n, 2n ** 63n, -(2n ** 63n) - 1n])
      assert.is((await get(`/v1/attendance/${id}`)).status, 404, String(id))
  })
}

test('the search index follows rows that another program wrote', async () => {
  const find = async (q: string) => (await one.get(`/v1/departments?q=${encodeURIComponent(q)}`)).body.meta.total
  await otherClient.run('insert into departments (name) values (?)', 'Ωμέγα Kanzlei')
  assert.is(await find('ωΜΈΓΑ kan'), 1)
  await otherClient.run('update departments set name = ? where name = ?', 'Nothing of it', 'Ωμέγα Kanzlei')
  assert.is(await find('ωΜΈΓΑ kan'), 0)
  assert.is(await find('nothing of'), 1)
  await otherClient.run('delete from departments where name = ?', 'Nothing of it')
  assert.is(await find('nothing of'), 0)
})

test('of creates that share a commit, only the invalid ones fail', async () => {
  const before = (await one.get('/v1/organizations')).body.meta.total
  const bodies = Array.from({ length: 30 }, (_, n) => ({
    name: 'Shared',
    slug: n % 3 === 0 ? 'the-same' : `shared-${n}`,
  }))
  const responses = await Promise.all(bodies.map((body) => one.create('organizations', body)))
  const stored = responses.filter(({ status }) => status === 201)
  assert.is(stored.length, 21)
  assert.ok(responses.every(({ status, body }) => status === 201 || body.error.details.issues[0].type === 'unique'))
  assert.is((await other.get('/v1/organizations')).body.meta.total, before + 21)
})

test.run()
