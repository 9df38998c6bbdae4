/** Whole results as CSV and NDJSON: every row once, with q and filters, exactly, and whatever page was asked for. */
import fc from 'fast-check'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { defaultListQuery } from '../../engine/descriptor/listQuery.js'
import { byId, type Registry, type Resource, type RowValues, type Value } from '../../engine/descriptor/registry.js'
import { toCsv } from '../../engine/storage/csv.js'
import { openStorage } from '../../engine/storage/open.js'
import { partBytes } from '../../engine/storage/parts.js'
import { publicRow } from '../../support/samples.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, server } from '../support/database.js'
import { startOffice } from '../support/office.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'
import { testedResources } from '../support/tested.js'

const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

const { address, send } = await startService()
const test = suite('download')
const ndjson = { headers: { accept: 'application/x-ndjson' } }
const csv = { headers: { accept: 'text/csv' } }
const linesOf = (body: string): RowValues[] =>
  body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as RowValues)

/** A small parser of RFC 4180; null and the empty string differ. */
const parseCsv = (body: string): (string | null)[][] => {
  const rows: (string | null)[][] = []
  let row: (string | null)[] = []
  for (const [, quoted, plain = '', end] of body.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? (plain === '' ? null : plain) : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

const tableOf = ({ fields }: Resource, rows: readonly RowValues[]) => {
  const cell = (kind: string, value: Value | undefined) =>
    value === null ? null : kind === 'json' ? JSON.stringify(value) : String(value)
  return [fields.map(({ name }) => name), ...rows.map((row) => fields.map(({ name, kind }) => cell(kind, row[name])))]
}

for (const resource of testedResources) {
  const path = `/api/v1/${resource.path}`
  const rows = resource.demo.map((row) => publicRow(resource, row)).sort(byId)

  test(`${resource.path}: NDJSON and CSV have all rows in order of id, whatever limit and offset say`, async () => {
    const lines = await send(`${path}?limit=1&offset=2`, ndjson)
    assert.is(lines.headers['content-type'], 'application/x-ndjson; charset=utf-8')
    assert.is(lines.headers['content-disposition'], `attachment; filename="${resource.path}.ndjson"`)
    assert.equal([lines.status, linesOf(lines.text)], [200, rows])
    const table = await send(`${path}?limit=1&offset=2`, csv)
    assert.is(table.headers['content-type'], 'text/csv; charset=utf-8; header=present')
    assert.equal(parseCsv(table.text), tableOf(resource, rows))
  })
}

const { send: sendToOffice } = await startOffice()

const accepts = {
  // biome-ignore format: one list
  JSON: [
    '*/*', 'text/*', 'text/html', 'text/csv;q=0', 'application/json, text/csv;q=0.5', 'text/csv;charset=utf-16', 'csv', '',
    'application/json;charset=utf-8, text/csv;q=0.5',
  ],
  // biome-ignore format: one list
  'all rows': [
    'text/csv', 'TEXT/CSV', 'text/csv; charset=UTF-8', 'text/csv; header=present; q=0.8', 'text/csv, */*;q=0.1',
    'application/json;q=0.5, application/x-ndjson',
  ],
}
for (const [gets, given] of Object.entries(accepts)) {
  test(`what Accept must say to get ${gets}`, async () => {
    for (const accept of given) {
      const { headers } = await sendToOffice('/api/v1/departments', { headers: { accept } })
      assert.is(headers['content-type'] === 'application/json; charset=utf-8', gets === 'JSON', accept)
    }
  })
}

test('both documents name the formats in the description, and only JSON in the response', async () => {
  const { body: openapi } = await sendToOffice('/api/openapi.json')
  const { body: swagger } = await sendToOffice('/swagger.json')
  assert.equal(Object.keys(openapi.paths['/v1/leave'].get.responses['200'].content), ['application/json'])
  assert.equal([swagger.paths['/v1/leave'].get.produces, swagger.produces], [undefined, ['application/json']])
  for (const document of [openapi, swagger]) {
    assert.match(document.paths['/v1/leave'].get.description, /`Accept: text\/csv`.*`Accept: application\/x-ndjson`/)
  }
})

test('an invalid parameter is refused as for a page', async () => {
  const { status, body } = await sendToOffice('/api/v1/leave?limit=0&employee_id=x', csv)
  assert.is(status, 422)
  assert.is(body.detail.length, 2)
})

test('a page names Accept in Vary; a result without rows is a header alone', async () => {
  assert.is((await sendToOffice('/api/v1/leave')).headers['vary'], 'Accept, Accept-Encoding')
  assert.is((await sendToOffice('/api/v1/departments?q=nowhere', csv)).text, 'id,name\r\n')
  assert.is((await sendToOffice('/api/v1/departments?q=nowhere', ndjson)).text, '')
})

test('CSV has what the JSON of a row has, whatever its texts and numbers are', () => {
  const names = ['id', 'a', 'b', 'c']
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', ',', '\r', '\n', '}', '{', ':', 'é', '\u2028', 'null') }),
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  const rows = fc.array(fc.tuple(fc.integer(), value, value, value), { maxLength: 5 })
  fc.assert(
    fc.property(rows, (given) => {
      const objects = given.map((cells) => Object.fromEntries(names.map((name, n) => [name, cells[n] as Value])))
      const json = objects.map((row) => `${JSON.stringify(row)}\n`).join('')
      const expected = objects.map((row) => names.map((name) => row[name] ?? null))
      const found = parseCsv(toCsv(names, Buffer.from(json)).toString())
      assert.equal(
        found,
        expected.map((row) => row.map((cell) => (cell === null ? null : String(Object.is(cell, -0) ? 0 : cell)))),
      )
    }),
    { seed: 33, numRuns: 2_000 },
  )
})

const fields = { note: text(), kind: text({ filter: true }), n: integer(), x: number() }
const things: Registry = [resourceIn('things', fields, { create: false })]

test('rows far apart, odd texts and large rows are all in it once, and a client that leaves ends the stream', async () => {
  const [thing] = things as [Registry[number]]
  const url = await freshUrl()
  const storage = await openStorage(things, url, storageOptions)
  const odd = ['a"b', 'c,d', 'e\r\nf', '', ' ', '=1+1', '":12345678901234567890,', '\u202eabc', '𝒳'.repeat(9)]
  const rows: RowValues[] = []
  for (let n = 1; n <= 9_000; n++) {
    const id = n * n * 7
    const note = n % 1_000 === 0 ? 'long '.repeat(60_000) : (odd[n % 20] ?? `note ${n}`)
    rows.push({ id, note, kind: n % 3 === 0 ? 'third' : 'other', n: n % 2 ? null : -n, x: n / 8 })
  }
  await storage.fill([{ resource: thing, rows }])
  for await (const { length } of storage.table(thing).stream(defaultListQuery))
    assert.ok(length < 400_000, `a part has ${length} bytes`)
  await storage.close()

  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const service = await startService({ registry: things, url, logger })
  const lines = async (query: string) => linesOf((await service.send(`/api/v1/things${query}`, ndjson)).text)
  assert.equal(await lines(''), rows)
  const third = rows.filter(({ kind }) => kind === 'third')
  assert.equal(await lines('?kind=third'), third)
  const found = third.filter(({ note }) => String(note).includes('note 8'))
  assert.equal(await lines('?kind=third&q=NOTE%208'), found)
  assert.equal(parseCsv((await service.send('/api/v1/things', csv)).text), tableOf(thing, rows))
  const leaving = await fetch(`${service.address}/api/v1/things`, ndjson)
  await leaving.body?.cancel()
  assert.is((await service.send('/api/v1/things?limit=1')).body.meta.total, rows.length)
  assert.equal(errors, [], 'a client that leaves is not an error')
})

test('a part has about 32 KB, although rows consist of names and numbers rather than texts', async () => {
  const names = Array.from({ length: 30 }, (_, n) => `a_field_with_a_number_${n}`)
  const numbers = resourceIn('numbers', Object.fromEntries(names.map((name) => [name, integer()])), { create: false })
  const storage = await openStorage([numbers], await freshUrl(), storageOptions)
  const values = Object.fromEntries(names.map((name) => [name, 7]))
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: n + 1, ...values }))
  await storage.fill([{ resource: numbers, rows }])
  for await (const { length } of storage.table(numbers).stream(defaultListQuery))
    assert.ok(length < 1.5 * partBytes, `a part has ${length} bytes`)
  await storage.close()
})

test('a download is compressed if the client accepts gzip', async () => {
  const path = `/api/v1/${testedResources[0]?.path}`
  const response = await fetch(`${address}${path}`, { headers: { ...ndjson.headers, 'accept-encoding': 'br, gzip' } })
  assert.is(response.headers.get('content-encoding'), 'gzip')
  assert.is(response.headers.get('vary'), 'Accept, Accept-Encoding')
  assert.is(await response.text(), (await send(path, ndjson)).text)
})

test('a download beyond the limit is refused', async () => {
  const refusing = await startOffice({ maxDownloads: 0 })
  const { status, headers, body } = await refusing.send('/api/v1/employees', csv)
  assert.is(status, 503)
  assert.is(body.error.code, 'unavailable')
  assert.ok(headers['retry-after'])
  assert.is((await refusing.send('/api/v1/employees')).status, 200)
})

if (!server) {
  test('an integer beyond 2^53 that another program wrote is not rounded', async () => {
    const { Database } = await import('../../engine/storage/sqlite/driver.js')
    const url = await freshUrl()
    await (await openStorage(things, url, storageOptions)).close()
    const database = new Database(url.slice('sqlite:'.length))
    database.exec(`insert into things (id, note, n) values (1, '"n":1,', 9007199254740993)`)
    database.close()
    const { text: body } = await (await startService({ registry: things, url })).send('/api/v1/things', csv)
    assert.is(body, 'id,note,kind,n,x\r\n1,"""n"":1,",,9007199254740993,\r\n')
  })
}

test('Node has not warned of anything', () => assert.equal(warnings, []))

test.run()
