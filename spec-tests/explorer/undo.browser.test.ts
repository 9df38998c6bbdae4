/** Undo in a real browser: changes that are undone, and deletes, which are not; skipped where no Chromium is installed, and on PostgreSQL. */
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { boolean, integer, text, timestamp } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, type TestService } from '../support/service.js'

const tasks = resourceIn(
  'tasks',
  {
    title: text(),
    points: integer(),
    urgent: boolean(),
    starts: timestamp(),
    state: text({ oneOf: ['open', 'done'], next: { open: ['done'] } }),
    parent_id: integer({ references: 'tasks', onDelete: 'cascade', filter: true }),
  },
  {
    name: 'Task',
    required: ['title', 'urgent'],
    update: true,
    delete: true,
    demo: Array.from({ length: 30 }, (_, n) => ({
      id: n + 1,
      title: `Task ${n + 1}`,
      points: n,
      urgent: n % 2 === 0,
      starts: '2026-03-01T09:30:15.000Z',
      state: 'open',
      parent_id: n === 21 ? 21 : null,
    })),
  },
)

const { run, test, service, openAs } = await browserSuite('undo in a browser', () =>
  startService({ registry: [tasks], explorer: true }),
)
const stored = async (id: number) => (await (service as TestService).get(`/v1/tasks/${id}`)).body

const undo = async (page: Page) => {
  await page.click('.undo')
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor()
}

test('a change by the form is undone', async () => {
  const before = await stored(1)
  const { page, problems, close } = await openAs('/explore/tasks/1/edit')
  await page.fill('#field-title', 'Changed')
  await page.fill('#field-points', '')
  await page.uncheck('#field-urgent')
  await page.fill('#field-starts', '2027-01-01T00:00')
  await page.fill('#field-parent_id', '3')
  await page.click('#update .primary')
  await page.locator('.notice', { hasText: 'saved' }).waitFor()
  assert.equal(await seriousViolations(page), [])
  assert.is((await stored(1)).parent_id, 3)
  await undo(page)
  assert.equal(await stored(1), before)
  assert.is(await page.textContent('h1'), 'Task 1')
  assert.equal(problems, [])
  await close()
})

test('a change of a cell is undone; not if somebody else has changed the row since', async () => {
  const { page, close } = await openAs('/explore/tasks')
  const cell = (id: number) => `tr[data-row="/explore/tasks/${id}"] [data-field=points]`
  const set = async (id: number, value: string) => {
    await page.dblclick(cell(id))
    await page.locator(`${cell(id)} [name=points]`).fill(value)
    await page.locator(`${cell(id)} [name=points]`).press('Enter')
    await page.locator('.toast .undo').waitFor()
  }
  await set(3, '50')
  await undo(page)
  assert.is((await stored(3)).points, 2)
  assert.is(await page.innerText(cell(3)), '2')
  await set(4, '51')
  await (service as TestService).change('tasks/4', { title: 'Other' })
  await page.click('.undo')
  await page.locator('.toast', { hasText: 'Not undone. Somebody else has changed it since.' }).waitFor()
  assert.is((await stored(4)).points, 51)
  await close()
})

test('a step that leads nowhere back is not offered to be undone', async () => {
  const { page, close } = await openAs('/explore/tasks/5/edit')
  await page.selectOption('#field-state', 'done')
  await page.click('#update .primary')
  await page.locator('.notice', { hasText: 'saved' }).waitFor()
  assert.is(await page.locator('.undo').count(), 0)
  await close()
})

test('a delete is not offered to be undone', async () => {
  const { page, problems, close } = await openAs('/explore/tasks/21/delete')
  await page.click('#delete .primary')
  await page.locator('.notice', { hasText: 'Task #21 deleted.' }).waitFor()
  assert.match(await page.innerText('.summary'), /^28 tasks/)
  assert.is(await page.locator('.undo').count(), 0)
  assert.equal(problems, [])
  await close()
})

test('a row that somebody else has changed is not deleted at once', async () => {
  const { page, close } = await openAs('/explore/tasks/25/delete')
  await (service as TestService).change('tasks/25', { title: 'Other' })
  await page.click('#delete .primary')
  await page.locator('.form-error', { hasText: 'Delete it again if you still want to.' }).waitFor()
  assert.is((await stored(25)).title, 'Other')
  await page.click('#delete .primary')
  await page.locator('.notice', { hasText: 'Task #25 deleted.' }).waitFor()
  await close()
})

test('many changes are undone, each to its own value; many deletes are not', async () => {
  const { page, close } = await openAs('/explore/tasks/edit-many?id=10&id=11&field=points')
  await page.fill('#field-points', '99')
  await page.click('#many .primary')
  await page.locator('.notice', { hasText: '2 tasks saved.' }).waitFor()
  await undo(page)
  assert.equal([(await stored(10)).points, (await stored(11)).points], [9, 10])
  await page.check('tbody input[aria-label="Select Task 10"]')
  await page.check('tbody input[aria-label="Select Task 11"]')
  await page.click('#chosen [data-verb=Delete]')
  await page.click('#many .primary')
  await page.locator('.notice', { hasText: '2 tasks deleted.' }).waitFor()
  assert.is(await page.locator('.undo').count(), 0)
  await close()
})

run.run()
