/** Redacted fields: a secret stored by plain SQL appears in no response, document, log line or metric. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Field, Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { sharedDatabase } from '../support/database.js'
import { scrape } from '../support/observed.js'
import { office } from '../support/office.js'
import { startProcess } from '../support/process.js'
import { joinedText } from '../support/searchOracle.js'
import { authorized, token } from '../support/service.js'

/** Not part of any demo value. */
const secret = 'Zq7xSecretHash'
const secretNumber = 918_273_645_546

const isText = ({ kind }: Field): boolean => kind === 'text'
const secretOf = (field: Field): string | number => (isText(field) ? secret : secretNumber)
const redactedOf = ({ fields }: Resource): Field[] =>
  fields.filter(({ redacted, references }) => redacted && !references)
const affected = office.filter((resource) => redactedOf(resource).length > 0)

const database = await sharedDatabase()
// The service itself generates no rows for a resource without demo rows.
await (await openStorage(office, database.url, storageOptions)).close()
const settings = { API_TOKEN: token, LOG_LEVEL: 'trace', METRICS_PORT: '0' }
const running = await startProcess({ DATABASE_URL: database.url, ...settings })
for (const resource of affected) {
  for (const field of redactedOf(resource)) {
    await database.run(`update ${resource.table} set ${field.name} = ?`, secretOf(field))
  }
}

/** All responses so far, with their headers. */
let received = ''
const request = async (url: string, init?: RequestInit): Promise<{ status: number; text: string }> => {
  const response = await fetch(url, init)
  const text = await response.text()
  // Link repeats the query, and the tests ask for the secret.
  const headers = [...response.headers].filter(([name]) => name !== 'link')
  received += `${JSON.stringify(headers)} ${text}\n`
  return { status: response.status, text }
}
const get = async (path: string) => {
  const { status, text } = await request(`${running.address}/api/v1/${path}`)
  return { status, body: JSON.parse(text) }
}

const test = suite('redaction')

for (const resource of affected) {
  const { path } = resource
  const fields = redactedOf(resource)

  test(`${path}: lists, pages and rows show null`, async () => {
    const [first = {}] = resource.demo
    const q = encodeURIComponent(joinedText(resource, first).slice(0, 3))
    for (const query of ['limit=200', 'limit=7&offset=0', `q=${q}&limit=200`, `q=${q}&offset=0`]) {
      const { body } = await get(`${path}?${query}`)
      assert.ok(body.data.length > 0, query)
      for (const row of body.data) for (const { name } of fields) assert.is(row[name], null)
    }
    const [{ id }] = (await get(`${path}?limit=1`)).body.data
    for (const { name } of fields) assert.is((await get(`${path}/${id}`)).body[name], null)
  })

  test(`${path}: no search finds it, in whole or in part, and it is not a filter`, async () => {
    for (const q of [secret, secret.toLowerCase(), secret.slice(0, 2), secret.slice(2, 7), String(secretNumber)]) {
      assert.is((await get(`${path}?q=${q}`)).body.meta.total, 0, q)
    }
    const { total } = (await get(path)).body.meta
    for (const field of fields) {
      assert.is((await get(`${path}?${field.name}=${secretOf(field)}`)).body.meta.total, total)
      assert.is((await get(`${path}?${field.name}=other`)).body.meta.total, total)
    }
  })
}

test('errors, documents, index, health and docs are requested', async () => {
  const [resource] = affected
  for (const path of ['/api', '/api/openapi.json', '/swagger.json', '/api/docs', '/api/v1/health', '/api/v1/nothing']) {
    await request(`${running.address}${path}`)
  }
  for (const query of ['limit=abc', 'offset=-1', '%FF', 'q=%00']) await get(`${resource?.path}?${query}`)
  await get(`${resource?.path}/0`)
  for (const method of ['POST', 'PUT', 'DELETE']) {
    await request(`${running.address}/api/v1/${resource?.path}`, { method, headers: authorized, body: '{}' })
  }
})

test('no response, header, log line or metric contains the secret', async () => {
  const metrics = await scrape(running)
  assert.is(await running.end('SIGTERM'), 0)
  assert.match(running.output(), /"request"|GET/)
  const everything = received + metrics + running.output()
  for (const text of [secret, secret.toLowerCase(), String(secretNumber)]) {
    assert.not.ok(everything.includes(text), text)
  }
})

test.run()
