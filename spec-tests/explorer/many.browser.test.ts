/** Many rows at once, in a real browser: selected, changed and deleted; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, type TestService } from '../support/service.js'

const tasks = resourceIn(
  'tasks',
  { title: text(), state: text({ oneOf: ['open', 'done'], filter: true }), points: integer({ min: 0, max: 13 }) },
  {
    name: 'Task',
    required: ['title'],
    update: true,
    delete: true,
    demo: Array.from({ length: 60 }, (_, n) => ({
      id: n + 1,
      title: `Task ${n + 1}`,
      state: n < 55 ? 'open' : 'done',
    })),
  },
)
const steps = resourceIn(
  'steps',
  { title: text(), task_id: integer({ references: 'tasks', onDelete: 'cascade', filter: true }) },
  { name: 'Step', demo: [1, 2, 3].map((id) => ({ id, title: `Step ${id}`, task_id: 2 })) },
)
const locks = resourceIn(
  'locks',
  { task_id: integer({ references: 'tasks', filter: true }) },
  {
    name: 'Lock',
    demo: [{ id: 1, task_id: 9 }],
  },
)

const { run, test, service, openAs, address } = await browserSuite('many rows in a browser', () =>
  startService({ registry: [tasks, steps, locks], explorer: true }),
)

const box = (name: string) => `tbody input[aria-label="Select ${name}"]`
const stored = async (id: number) => (await (service as TestService).get(`/v1/tasks/${id}`)).body

test('select rows, with shift, all of the page, and all matches; nothing moves', async () => {
  const { page, problems, close } = await openAs('/explore/tasks?limit=25')
  const before = await page.locator(box('Task 5')).boundingBox()
  await page.check(box('Task 3'))
  assert.equal(await page.locator(box('Task 5')).boundingBox(), before)
  assert.is(await page.innerText('#chosen [data-verb=Delete]'), 'Delete 1 row')
  await page.locator(box('Task 7')).click({ modifiers: ['Shift'] })
  assert.is(await page.innerText('#chosen [data-verb=Delete]'), 'Delete 5 rows')
  assert.equal(await seriousViolations(page), [])
  await page.click('.all-rows')
  assert.is(await page.innerText('#chosen [data-verb=Edit]'), 'Edit 25 rows')
  await page.check('.all-matches input')
  assert.is(await page.innerText('#chosen [data-verb=Edit]'), 'Edit 60 rows')
  await page.click('.clear-selection')
  assert.not.ok(await page.isVisible('#chosen'))
  assert.equal(problems, [])
  await close()
})

test('edit: one field of all selected rows, all or none', async () => {
  const { page, close } = await openAs('/explore/tasks')
  await page.check(box('Task 4'))
  await page.check(box('Task 5'))
  await page.click('#chosen [data-verb=Edit]')
  await page.locator('h1', { hasText: 'Edit 2 tasks' }).waitFor()
  await page.selectOption('#many-field', 'points')
  await page.locator('#field-points').waitFor()
  assert.equal(await seriousViolations(page), [])
  await page.fill('#field-points', '99')
  await page.click('#many .primary')
  await page.locator('#issue-points', { hasText: 'Task 4: Points must be at most 13' }).waitFor()
  await page.fill('#field-points', '8')
  await page.click('#many .primary')
  await page.locator('[role=status]', { hasText: '2 tasks saved.' }).waitFor()
  assert.equal([(await stored(4)).points, (await stored(5)).points], [8, 8])
  await close()
})

test('edit: a row that somebody else has changed stops all, and is named', async () => {
  const { page, close } = await openAs('/explore/tasks/edit-many?id=10&id=11&field=points')
  await (service as TestService).change('tasks/11', { points: 1 })
  await page.fill('#field-points', '3')
  await page.click('#many .primary')
  await page.locator('.form-error', { hasText: 'Somebody else has changed Task 11' }).waitFor()
  assert.is((await stored(10)).points, null)
  await page.fill('#field-points', '3')
  await page.click('#many .primary')
  await page.locator('[role=status]', { hasText: 'saved' }).waitFor()
  assert.equal([(await stored(10)).points, (await stored(11)).points], [3, 3])
  await close()
})

test('delete: says what goes with the rows; all matches of a filter', async () => {
  const { page, close } = await openAs('/explore/tasks/delete-many?id=1&id=2')
  assert.match(String(await page.innerText('#many .referrers')), /These are deleted too:\s+Steps by task\s+3/)
  await page.click('#many .primary >> text=Delete 2 rows')
  await page.locator('[role=status]', { hasText: '2 tasks deleted.' }).waitFor()
  assert.is((await (service as TestService).get('/v1/steps')).body.meta.total, 0)
  await page.goto(`${address}/explore/tasks/delete-many?id=9`)
  assert.match(String(await page.innerText('.referrers.error')), /They cannot be deleted/)
  await page.goto(`${address}/explore/tasks/delete-many?all=true&state=done`)
  assert.is(await page.innerText('h1'), 'Delete 5 tasks?')
  await page.click('#many .primary')
  await page.waitForURL('**/explore/tasks?state=done')
  assert.match(await page.innerText('.summary'), /^0 tasks/)
  await close()
})

test('without JavaScript, rows are selected and shown', async () => {
  const { page, close } = await openAs('/explore/tasks', { javaScriptEnabled: false })
  await page.check(box('Task 20'))
  await page.click('#chosen [data-verb=Delete]')
  assert.is(await page.textContent('h1'), 'Delete 1 task?')
  await close()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the pages are accessible in ${colorScheme} colours, on a phone`, async () => {
    const { page, close } = await openAs('/explore/tasks', { colorScheme, viewport: { width: 390, height: 800 } })
    await page.check(box('Task 20'))
    assert.equal(await seriousViolations(page), [])
    for (const path of ['delete-many', 'edit-many']) {
      await page.goto(`${address}/explore/tasks/${path}?id=20&id=21`)
      assert.equal(await seriousViolations(page), [])
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
    }
    await close()
  })

run.run()
