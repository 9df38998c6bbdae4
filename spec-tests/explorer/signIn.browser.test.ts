/** Signing in, working and signing out in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { boolean, date, integer, json, number, text, timestamp } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, token } from '../support/service.js'

const people = resourceIn(
  'people',
  { name: text(), salary: number({ readBy: ['hr'] }) },
  {
    name: 'Person',
    plural: 'People',
    create: true,
    update: true,
    delete: true,
    access: { read: ['hr', { id: claim('person_id') }], create: 'hr', update: ['hr', { id: claim('person_id') }] },
  },
)
const tasks = resourceIn(
  'tasks',
  {
    title: text(),
    points: integer({ min: 0, max: 13 }),
    urgent: boolean(),
    due: date(),
    at: timestamp(),
    extra: json(),
    notes: text({ maxLength: 900 }),
    parent_id: integer({ references: 'tasks' }),
  },
  {
    name: 'Task',
    required: ['title', 'urgent'],
    update: true,
    delete: true,
    demo: [{ id: 1, title: 'First task', urgent: false }],
  },
)
const callers = { hr: { roles: ['hr'] }, ana: { roles: [], claims: { person_id: 2 } } }

const { run, test, service, open, openAs } = await browserSuite('sign-in in a browser', () =>
  startService({ registry: [people, tasks], explorer: true, credentials: callersNamed(callers) }),
)
const rows = [1, 2, 3].map((id) => ({ id, name: `Person ${id}`, salary: 4_000 + id }))
await service?.fill([{ resource: people, rows }])

test('a visitor signs in on the way to a table, works without a token, and signs out', async () => {
  const { page, problems, close } = await open('/explore/people')
  assert.equal(await seriousViolations(page), [])
  await page.click('main a.primary')
  await page.fill('#key', 'wrong')
  await page.press('#key', 'Enter')
  await page.waitForSelector('.notice.error')
  assert.equal(await seriousViolations(page), [])
  await page.fill('#key', 'hr')
  await page.press('#key', 'Enter')
  await page.waitForSelector('text=Person 3')
  assert.match(page.url(), /\/explore\/people$/)
  await page.click('text=New person')
  await page.fill('#field-name', 'Person 4')
  await page.click('.primary >> text=Create')
  await page.waitForSelector('text=Person created.')
  await page.click('text=Edit')
  await page.fill('#field-salary', '5000')
  await page.click('text=Save')
  await page.waitForSelector('text=saved.')
  assert.match(await page.innerText('main'), /5,?000/)
  assert.equal(await seriousViolations(page), [])
  assert.is(await page.evaluate('document.cookie'), '')
  await page.click('text=Sign out')
  await page.waitForSelector('header >> text=Sign in')
  await page.goBack()
  await page.waitForSelector('text=Sign in to see this')
  // Only the responses with 401 that were asked for.
  assert.equal(
    problems.filter((problem) => !problem.includes('401')),
    [],
  )
  await close()
})

test('a form that was open when its session ended says so, and keeps what was typed', async () => {
  const { page, close } = await open('/explore/sign-in?next=/explore/people/2/edit')
  await page.fill('#key', 'ana')
  await page.press('#key', 'Enter')
  await page.waitForSelector('#field-name')
  assert.is(await page.locator('#field-salary').count(), 0)
  await page.fill('#field-name', 'Ana')
  await page.context().clearCookies()
  await page.click('text=Save')
  await page.waitForSelector('text=You are signed out')
  assert.equal(await seriousViolations(page), [])
  await page.fill('#key', 'ana')
  await page.press('#key', 'Enter')
  await page.waitForSelector('#field-name')
  assert.is(await page.inputValue('#field-name'), 'Ana')
  await page.click('text=Save')
  await page.waitForSelector('text=saved.')
  await close()
})

test('a cell whose session has ended asks to sign in there, and keeps what was typed', async () => {
  const { page, close } = await openAs('/explore/tasks')
  const cell = 'tr[data-row="/explore/tasks/1"] [data-field=points]'
  await page.dblclick(cell)
  await page.locator(`${cell} [name=points]`).fill('7')
  await page.context().clearCookies()
  await page.keyboard.press('Enter')
  await page.locator(`${cell} [type=password]`).fill(token)
  await page.keyboard.press('Enter')
  await page.locator(`${cell} [name=points]`).waitFor()
  assert.is(await page.inputValue(`${cell} [name=points]`), '7')
  await page.locator(`${cell} [name=points]`).press('Enter')
  await page.locator('.toast', { hasText: 'Saved.' }).waitFor()
  await close()
})

test('without JavaScript, who has signed in creates, changes and deletes rows by the forms', async () => {
  const { page, close } = await open('/explore/tasks/new', { javaScriptEnabled: false })
  assert.is(await page.locator('#create').count(), 0)
  await page.goto(`${service?.address}/explore/sign-in?next=/explore/tasks/new`)
  await page.fill('#key', token)
  await page.press('#key', 'Enter')
  await page.fill('#field-title', 'Plain')
  await page.fill('#field-points', '99')
  await page.check('#field-urgent')
  await page.fill('#field-due', '2026-03-01')
  await page.fill('#field-at', '2026-03-01T09:30')
  await page.fill('#field-extra', '{"a": 1.50}')
  await page.fill('#field-parent_id', 'first t')
  await page.click('#create .primary')
  assert.is(await page.innerText('#issue-points'), 'Points must be at most 13; 99 is more.')
  assert.is(await page.inputValue('#field-title'), 'Plain')
  await page.fill('#field-points', '5')
  await page.click('#create .primary')
  await page.waitForURL(/\/explore\/tasks\/2$/)
  const read = async (id: number) => (await service?.get(`/v1/tasks/${id}`))?.body
  assert.equal(await read(2), {
    id: 2,
    title: 'Plain',
    points: 5,
    urgent: true,
    due: '2026-03-01',
    at: '2026-03-01T09:30:00.000Z',
    extra: { a: 1.5 },
    notes: null,
    parent_id: 1,
  })
  await page.click('.actions a >> text=Edit')
  await page.uncheck('#field-urgent')
  await page.fill('#field-due', '')
  await page.fill('#field-notes', 'a\nb')
  await page.click('#update .primary')
  await page.waitForURL(/\/explore\/tasks\/2$/)
  const { urgent, due, notes, parent_id, extra } = await read(2)
  assert.equal([urgent, due, notes, parent_id, extra], [false, null, 'a\nb', 1, { a: 1.5 }])
  await page.goto(`${service?.address}/explore/tasks/2/edit`)
  await service?.change('tasks/2', { points: 7 })
  await page.fill('#field-title', 'Kept')
  await page.fill('#field-points', '6')
  await page.click('#update .primary')
  assert.match(await page.innerText('main'), /Somebody else has changed this row/)
  assert.match(await page.innerText('.control:has(#field-points) .other'), /this too\.\s+It is\s+7\s+now\./)
  assert.is(await page.inputValue('#field-title'), 'Kept')
  await page.click('#update .primary')
  await page.waitForURL(/\/explore\/tasks\/2$/)
  assert.equal([(await read(2)).title, (await read(2)).points], ['Kept', 6])
  await page.goto(`${service?.address}/explore/tasks/2/delete`)
  await page.click('#delete .primary')
  await page.waitForURL(/\/explore\/tasks$/)
  assert.is((await service?.get('/v1/tasks/2'))?.status, 404)
  await close()
})

run.run()
