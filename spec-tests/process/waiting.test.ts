/** Clients that wait for changes while a process runs, is measured and stops; and what prunes the log meanwhile. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createService } from '../../engine/service.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { freshUrl } from '../support/database.js'
import { sample, scrape } from '../support/observed.js'
import { startProcess } from '../support/process.js'
import { authorized, token } from '../support/service.js'
import { until } from '../support/until.js'

const project = temporaryProject()
mkdirSync(join(project, 'resources'))
writeFileSync(
  join(project, 'resources', 'books.ts'),
  `import { defineResource, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Book', area: 'Library', table: 'books', create: true, changes: true, required: ['title'], fields: { title: text() },
})
`,
)

const path = '/api/v1/books/changes'
type Page = { readonly data: { readonly id: number }[]; readonly meta: { readonly next: string } }

const test = suite('clients that wait')

for (const WORKERS of ['1', '2'])
  test(`they are told of changes, and end at once with the process (WORKERS=${WORKERS})`, async () => {
    const settings = { DATABASE_URL: await freshUrl(), API_TOKEN: token, METRICS_PORT: '0', WORKERS }
    const running = await startProcess(settings, { project })
    const ask = async (query = '') => {
      const response = await fetch(`${running.address}${path}${query}`)
      assert.is(response.status, 200)
      return (await response.json()) as Page
    }
    const waitFrom = ({ meta }: Page) => Array.from({ length: 20 }, () => ask(`?after=${meta.next}&wait=50`))
    const isWaiting = async () => sample(await scrape(running), 'registry_waiting_clients') === 20
    const first = waitFrom(await ask())
    await until(isWaiting)
    assert.is(sample(await scrape(running), 'registry_http_requests_in_flight'), 0)
    // Another process of the same database may store it.
    const created = { method: 'POST', headers: authorized, body: '{"title":"New"}' }
    assert.is((await fetch(`${running.address}/api/v1/books`, created)).status, 201)
    const pages = await Promise.all(first)
    assert.ok(pages.every(({ data }) => data.length === 1 && data[0]?.id === 1))
    const second = waitFrom(pages[0] as Page)
    await until(isWaiting)
    const begun = performance.now()
    const ended = running.end('SIGTERM')
    for (const { data } of await Promise.all(second)) {
      assert.equal(data, [])
    }
    assert.is(await ended, 0)
    assert.ok(performance.now() - begun < 5_000)
  })

test('they end with a service in another program, whose cursors go on in the next one', async () => {
  const settings = { DATABASE_URL: await freshUrl(), API_TOKEN: token, LOG_LEVEL: 'silent' }
  const open = () => createService({ folder: project, settings })
  const service = await open()
  const page = async (response: Promise<Response>) => (await (await response).json()) as Page
  const { meta } = await page(service.fetch(new Request(`http://library.test${path}`)))
  const waiting = page(service.fetch(new Request(`http://library.test${path}?after=${meta.next}&wait=50`)))
  await sleep(500)
  const begun = performance.now()
  await service.close()
  const { data, meta: last } = await waiting
  assert.equal(data, [])
  assert.ok(performance.now() - begun < 2_000)
  const next = await open()
  const created = { method: 'POST', headers: authorized, body: '{"title":"New"}' }
  await next.fetch(new Request('http://library.test/api/v1/books', created))
  const told = await page(next.fetch(new Request(`http://library.test${path}?after=${last.next}`)))
  assert.equal(
    told.data.map(({ id }) => id),
    [1],
  )
  await next.close()
})

test.run()
