/** A table that says that its rows have changed, in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { withLogging } from '../../engine/descriptor/logging.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, type TestService } from '../support/service.js'

const demo = Array.from({ length: 30 }, (_, n) => ({ id: n + 1, title: `Task ${n + 1}`, points: n }))
const fields = { title: text(), points: integer({ filter: true }) }
const more = { required: ['title'], update: true, delete: true, demo }
const registry = withLogging([
  resourceIn('tasks', fields, { ...more, name: 'Task', changes: true }),
  resourceIn('notes', fields, { ...more, name: 'Note' }),
])

const { run, test, service, openAs, open } = await browserSuite('changes in a browser', () =>
  startService({ registry, explorer: true }),
)
const { change, create } = (service ?? {}) as TestService

const notice = '[data-changes]'
const says = (page: Page, message: string) => page.locator(notice, { hasText: message }).waitFor()
const polls = (page: Page): string[] => {
  const urls: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/changes?')) urls.push(request.url())
  })
  return urls
}

test('it counts the rows that have changed, and shows them on a click', async () => {
  const { page, problems, close } = await open('/explore/tasks')
  assert.not(await page.isVisible(notice))
  await change('tasks/1', { title: 'First' })
  await says(page, '1 row has changed.')
  await change('tasks/1', { title: 'The first' })
  await change('tasks/2', { title: 'The second' })
  await create('tasks', { title: 'New' })
  await says(page, '3 rows have changed.')
  assert.equal(await seriousViolations(page), [])
  assert.is(await page.locator('tr', { hasText: 'The first' }).count(), 0)
  await page.click(`${notice} button`)
  await page.locator('tr', { hasText: 'The first' }).waitFor()
  assert.not(await page.isVisible(notice))
  // It goes on from there.
  await change('tasks/3', { title: 'The third' })
  await says(page, '1 row has changed.')
  assert.equal(problems, [])
  await close()
})

test('what was typed is kept unless it may be lost', async () => {
  const { page, close } = await openAs('/explore/tasks')
  const cell = 'tr[data-row="/explore/tasks/5"] [data-field=points]'
  await page.dblclick(cell)
  await page.locator(`${cell} [name=points]`).fill('77')
  await change('tasks/6', { title: 'Sixth' })
  await says(page, '1 row has changed.')
  // The dialog is dismissed.
  await page.click(`${notice} button`)
  assert.is(await page.locator(`${cell} [name=points]`).inputValue(), '77')
  await close()
})

test('a change of a cell of the page itself is not told', async () => {
  const { page, close } = await openAs('/explore/tasks')
  const cell = 'tr[data-row="/explore/tasks/7"] [data-field=points]'
  await page.dblclick(cell)
  await page.locator(`${cell} [name=points]`).fill('78')
  await page.locator(`${cell} [name=points]`).press('Enter')
  await page.locator('.toast', { hasText: 'Saved.' }).waitFor()
  await sleep(2_500)
  assert.not(await page.isVisible(notice))
  await change('tasks/8', { title: 'Eighth' })
  await says(page, '1 row has changed.')
  await close()
})

test('it asks only while the page is seen, and of tables with changes', async () => {
  const { page, close } = await open('/explore/notes')
  const urls = polls(page)
  assert.is(await page.locator(notice).count(), 0)
  await page.goto(`${(service as TestService).address}/explore/tasks`)
  await sleep(500)
  assert.is(urls.length, 1)
  const see = (state: 'hidden' | 'visible') =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await see('hidden')
  await change('tasks/9', { title: 'Ninth' })
  await sleep(3_000)
  assert.is(urls.length, 1)
  assert.not(await page.isVisible(notice))
  await see('visible')
  await says(page, '1 row has changed.')
  await close()
})

test('another page ends it', async () => {
  const { page, close } = await open('/explore/tasks')
  const urls = polls(page)
  await page.click('a[href="/"]')
  await page.waitForURL((url) => url.pathname === '/')
  await sleep(2_000)
  assert.ok(urls.length <= 1)
  await change('tasks/10', { title: 'Tenth' })
  await sleep(2_000)
  assert.ok(urls.length <= 1)
  await close()
})

run.run()
