/** Custom operations in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { ApiError, defineOperation, text, z } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { callersNamed } from '../support/callers.js'
import { operationsNamed } from '../support/ownOperations.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const visits = resourceIn('visits', { name: text(), state: text() }, { name: 'Visit', update: true })

const operations = operationsNamed({
  'close-visit': defineOperation({
    method: 'POST',
    path: '/v1/visits/{visit_id}/close',
    about: 'Closes a visit, and writes its bill.',
    body: z.object({
      amount: z.int().min(0).describe('What the owner pays, in cents.'),
      note: z.string().nullable(),
      urgent: z.boolean(),
      paid: z.boolean().optional(),
      at: z.iso.datetime().optional(),
      lines: z.array(z.object({ text: z.string(), price: z.int() })).default([]),
    }),
    async handle({ params, body, of }) {
      if (body.amount === 13) throw new ApiError(409, 'unlucky', 'Nobody pays 13.')
      await of(visits).update(params['visit_id'] ?? '', { state: 'closed' })
      return { visit: params['visit_id'], ...body }
    },
  }),
  report: defineOperation({
    method: 'GET',
    path: '/v1/reports/visits',
    about: 'Counts the visits of a state.',
    access: 'public',
    query: z.looseObject({ state: z.enum(['open', 'closed']).default('open'), tags: z.array(z.string()).optional() }),
    handle: ({ query, caller }) => ({ query, caller: caller.name ?? null }),
  }),
  totals: defineOperation({
    method: 'PUT',
    path: '/v1/totals',
    about: 'Adds numbers.',
    access: 'desk',
    body: z.array(z.int()),
    handle: ({ body, caller }) => ({ sum: body.reduce((sum, one) => sum + one, 0), by: caller.name }),
  }),
})

const { run, test, service, open, openAs } = await browserSuite('operations in a browser', () =>
  startService({
    registry: [visits],
    operations,
    explorer: true,
    credentials: callersNamed({ desk: { roles: ['desk'] } }),
  }),
)
await service?.fill([
  { resource: visits, rows: [1, 2].map((id) => ({ id, name: `Visit of Rex ${id}`, state: 'open' })) },
])

const sizes = [
  { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

test('an operation is sent, each issue is at its control, and the response is shown', async () => {
  const { page, problems, close } = await openAs('/')
  await page.click('text=Close visit')
  await page.waitForSelector('#operation:visible')
  await page.click('#operation .primary')
  await page.locator('#issue-0', { hasText: 'Visit ID is required' }).waitFor()
  assert.match(await page.innerText('#issue-1'), /Amount is required/)
  assert.is(await page.innerText('#issue-2'), '')
  await page.fill('#input-0', 'Rex 2')
  await page.click('[role=option] >> text=Visit of Rex 2')
  assert.is(await page.innerText('.picked'), '#2')
  await page.fill('#input-1', '-1')
  await page.fill('#input-6', '[{"text":"Vaccine"}]')
  await page.click('#operation .primary')
  await page.locator('#issue-1', { hasText: '>=0' }).waitFor()
  assert.match(await page.innerText('#issue-6'), /^0\.price: /)
  assert.match(await page.innerText('.form-error'), /2 errors/)
  assert.equal(await seriousViolations(page), [])
  await page.fill('#input-1', '13')
  await page.fill('#input-6', '')
  await page.click('#operation .primary')
  await page.locator('.form-error', { hasText: 'Nobody pays 13.' }).waitFor()
  await page.fill('#input-1', '9')
  await page.check('#input-3')
  await page.fill('#input-5', '2026-03-01T10:30')
  await page.locator('.request code', { hasText: '10:30' }).waitFor()
  assert.match(
    await page.innerText('.request code'),
    /^curl -X POST 'http:\S+\/api\/v1\/visits\/2\/close' -H 'Authorization: Bearer TOKEN' .* -d '\{"amount":9,"note":null,"urgent":true,"at":"2026-03-01T10:30:00Z"\}'$/,
  )
  await page.click('#operation .primary')
  await page.waitForSelector('#result pre')
  assert.equal(JSON.parse(await page.innerText('#result pre')), {
    visit: '2',
    amount: 9,
    note: null,
    urgent: true,
    at: '2026-03-01T10:30:00Z',
    lines: [],
  })
  assert.equal(await seriousViolations(page), [])
  // Nothing is lost by leaving.
  await page.click('.crumbs a')
  await page.click('.card >> text=Close visit')
  await page.waitForSelector('#operation:visible')
  assert.equal(
    problems.filter((problem) => !/40[19]|422/.test(problem)),
    [],
  )
  await close()
})

test('a query has only what was filled in, and a list has its lines', async () => {
  for (const options of sizes) {
    const { page, problems, close } = await open('/explore/-/operations/report?state=closed', options)
    await page.waitForSelector('#operation:visible')
    await page.fill('#input-1', 'a b\n\nc')
    await page.fill('#input-2', 'x=1&y=2')
    await page.click('#operation .primary')
    await page.waitForSelector('#result pre')
    assert.equal(JSON.parse(await page.innerText('#result pre')), {
      query: { state: 'closed', tags: ['a b', 'c'], x: '1', y: '2' },
      caller: null,
    })
    assert.equal(await seriousViolations(page), [])
    assert.equal(problems, [])
    await close()
  }
})

test('a body that is no object is JSON', async () => {
  const { page, close } = await openAs('/explore/-/operations/totals', {}, 'desk')
  await page.waitForSelector('#operation:visible')
  await page.fill('#input-0', '[1,')
  await page.click('#operation .primary')
  await page.locator('#issue-0', { hasText: 'not valid JSON' }).waitFor()
  await page.fill('#input-0', '[1, "x"]')
  await page.click('#operation .primary')
  await page.locator('#issue-0', { hasText: /^1: / }).waitFor()
  await page.fill('#input-0', '[1, 2]')
  await page.click('#operation .primary')
  await page.waitForSelector('#result pre')
  assert.equal(JSON.parse(await page.innerText('#result pre')), { sum: 3, by: 'desk' })
  await close()
})

run.run()
