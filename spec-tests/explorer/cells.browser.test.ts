/** Tables that people edit in a real browser: cells in place; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { boolean, date, integer, text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, type TestService } from '../support/service.js'

const teams = resourceIn('teams', { name: text() }, { name: 'Team', demo: [{ id: 1, name: 'Sales' }] })
const tasks = resourceIn(
  'tasks',
  {
    title: text({ maxLength: 40 }),
    state: text({ oneOf: ['open', 'done'], filter: true }),
    points: integer({ min: 0, max: 13 }),
    due: date(),
    urgent: boolean(),
    team_id: integer({ references: 'teams' }),
    fixed: text(),
    notes: text({ maxLength: 900 }),
  },
  {
    name: 'Task',
    required: ['title', 'urgent'],
    update: ['title', 'state', 'points', 'due', 'urgent', 'team_id', 'notes'],
    delete: true,
    demo: Array.from({ length: 8 }, (_, n) => ({
      id: n + 1,
      title: `Task ${n + 1}`,
      state: 'open',
      points: n,
      urgent: false,
      fixed: 'stays',
    })),
  },
)

const { run, test, service, openAs } = await browserSuite('cells in a browser', () =>
  startService({ registry: [teams, tasks], explorer: true }),
)

const cell = (id: number, field: string) => `tr[data-row="/explore/tasks/${id}"] [data-field="${field}"]`
const stored = async (id: number) => (await (service as TestService).get(`/v1/tasks/${id}`)).body

test('a double click opens the control of a cell, an error stands at it, and Enter saves', async () => {
  const { page, problems, close } = await openAs('/explore/tasks')
  await page.dblclick(cell(1, 'points'))
  await page.locator(`${cell(1, 'points')} input[name=points]`).waitFor()
  assert.is(await page.evaluate('document.activeElement.name'), 'points')
  assert.equal(await seriousViolations(page), [])
  await page.keyboard.type('99')
  await page.keyboard.press('Enter')
  await page.locator(`${cell(1, 'points')} .issue`, { hasText: 'Points must be at most 13' }).waitFor()
  await page.locator(`${cell(1, 'points')} [name=points]`).fill('7')
  await page.keyboard.press('Enter')
  await page.locator('.toast', { hasText: 'Saved.' }).waitFor()
  assert.is(await page.innerText(cell(1, 'points')), '7')
  assert.is((await stored(1)).points, 7)
  // The token is asked for once; a label is edited although it is a link.
  await page.dblclick(`${cell(2, 'title')} a`)
  await page.locator(`${cell(2, 'title')} [name=title]`).fill('Renamed')
  assert.not.ok(await page.isVisible(`${cell(2, 'title')} .token`))
  await page.keyboard.press('Enter')
  await page.locator(cell(2, 'title'), { hasText: 'Renamed' }).waitFor()
  assert.match(page.url(), /tasks$/)
  // The 422 is the only error.
  assert.is(problems.filter((one) => !one.includes('422')).length, 0)
  await close()
})

test('by keyboard: arrows lead to a cell, Enter opens it, Escape leaves it', async () => {
  const { page, close } = await openAs('/explore/tasks')
  await page.focus(cell(1, 'title'))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  assert.is(await page.evaluate('document.activeElement.dataset.field'), 'state')
  await page.keyboard.press('Enter')
  await page.locator(`${cell(2, 'state')} select`).waitFor()
  await page.selectOption(`${cell(2, 'state')} select`, 'done')
  await page.keyboard.press('Enter')
  await page.locator('.toast', { hasText: 'Saved.' }).waitFor()
  assert.is((await stored(2)).state, 'done')
  assert.is(await page.evaluate('document.activeElement.dataset.field'), 'state')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page
    .locator(`${cell(2, 'points')} input`)
    .first()
    .waitFor()
  await page.keyboard.type('12')
  await page.keyboard.press('Escape')
  assert.is(await page.locator(`${cell(2, 'points')} input`).count(), 0)
  assert.is((await stored(2)).points, 1)
  assert.is(await page.evaluate('document.activeElement.dataset.field'), 'points')
  await close()
})

test('a reference, a date, a box and a long text are edited in their cells', async () => {
  const { page, close } = await openAs('/explore/tasks')
  const edit = async (field: string, change: () => Promise<unknown>) => {
    await page.dblclick(cell(3, field))
    await page.locator(`${cell(3, field)} .cell-form`).waitFor()
    await change()
    await page.locator(`${cell(3, field)} .primary`).click()
    await page.locator(`${cell(3, field)} .cell-form`).waitFor({ state: 'detached' })
  }
  await edit('team_id', async () => {
    await page.keyboard.type('sal')
    await page.locator('[role=option]', { hasText: 'Sales' }).click()
  })
  await edit('due', () => page.fill(`${cell(3, 'due')} input`, '2026-03-01'))
  await edit('urgent', () => page.check(`${cell(3, 'urgent')} input[type=checkbox]`))
  await edit('notes', () => page.fill(`${cell(3, 'notes')} textarea`, 'a\nb'))
  const { team_id, due, urgent, notes } = await stored(3)
  assert.equal({ team_id, due, urgent, notes }, { team_id: 1, due: '2026-03-01', urgent: true, notes: 'a\nb' })
  await close()
})

test('what somebody else has changed is told at the cell', async () => {
  const { page, close } = await openAs('/explore/tasks')
  await page.dblclick(cell(4, 'points'))
  await page.locator(`${cell(4, 'points')} [name=points]`).fill('9')
  await (service as TestService).change('tasks/4', { points: 5 })
  await page.keyboard.press('Enter')
  await page.locator(`${cell(4, 'points')} .other button`, { hasText: 'Take 5' }).waitFor()
  await page.locator(`${cell(4, 'points')} .other button`, { hasText: 'Keep 9' }).click()
  await page.keyboard.press('Enter')
  await page.locator('.toast', { hasText: 'Saved.' }).waitFor()
  assert.is((await stored(4)).points, 9)
  await close()
})

test('a row that no longer fits the filter shows what is stored, until the page is loaded again', async () => {
  const { page, close } = await openAs('/explore/tasks?state=open')
  const count = async () => Number(await page.innerText('.summary strong'))
  const before = await count()
  await page.dblclick(cell(6, 'state'))
  await page.selectOption(`${cell(6, 'state')} select`, 'done')
  await page.keyboard.press('Enter')
  await page.locator('.toast', { hasText: 'Saved. The row no longer fits what is shown' }).waitFor()
  assert.is((await stored(6)).state, 'done')
  assert.is(await page.innerText(cell(6, 'state')), 'done')
  assert.is(await page.locator('tr.unfit').count(), 1)
  assert.is(await count(), before - 1)
  assert.equal(await seriousViolations(page), [])
  // It can be edited again, and what fits again is as any other row.
  await page.dblclick(cell(6, 'title'))
  await page.locator(`${cell(6, 'title')} [name=title]`).fill('Task six')
  await page.keyboard.press('Enter')
  await page.locator(cell(6, 'title'), { hasText: 'Task six' }).waitFor()
  await page.locator('.toast', { hasText: 'no longer fits' }).waitFor()
  await page.dblclick(cell(6, 'state'))
  await page.selectOption(`${cell(6, 'state')} select`, 'open')
  await page.keyboard.press('Enter')
  await page.locator('.toast', { hasText: /^Saved\.( Undo)?/ }).waitFor()
  await page.locator('tr.unfit').waitFor({ state: 'detached' })
  assert.is(await page.innerText(cell(6, 'state')), 'open')
  assert.is(await count(), before)
  await page.dblclick(cell(6, 'state'))
  await page.selectOption(`${cell(6, 'state')} select`, 'done')
  await page.keyboard.press('Enter')
  await page.locator('tr.unfit').waitFor()
  await page.reload()
  assert.is(await page.locator(cell(6, 'state')).count(), 0)
  await close()
})

test('only fields that may change can be edited, and a link is still one click', async () => {
  const { page, close } = await openAs('/explore/tasks')
  assert.is(await page.locator(cell(1, 'fixed')).count(), 0)
  await page.dblclick('tr[data-row="/explore/tasks/1"] td:has-text("stays")')
  await page.waitForTimeout(200)
  assert.is(await page.locator('.cell-form').count(), 0)
  await page.click(`${cell(5, 'title')} a`)
  await page.waitForURL('**/explore/tasks/5')
  await close()
})

run.run()
