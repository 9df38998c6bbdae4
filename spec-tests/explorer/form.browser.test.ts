/** The form of the explorer for every kind and rule, in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { boolean, date, integer, number, text, timestamp, today } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, type TestService } from '../support/service.js'

const fields = {
  title: text({ maxLength: 5, minLength: 2 }),
  state: text({ oneOf: ['open', 'done'], default: 'open', filter: true }),
  size: integer({ oneOf: [1, 2, 3] }),
  urgent: boolean({ filter: true }),
  billed: boolean(),
  days: number({ min: 0, max: 366 }),
  due: date({ min: '2026-01-01', filter: true }),
  noted: date({ default: today }),
  starts: timestamp({ max: '2030-01-01T01:00:00+01:00' }),
  code: text({ maxLength: 9, pattern: '[A-Z]{2}-\\d+', example: 'AB-12' }),
  odd: text({ maxLength: 9, pattern: '[a-z|]+' }),
  notes: text({ maxLength: 1_000 }),
  word: text(),
}
const tasks = resourceIn('tasks', fields, {
  name: 'Task',
  required: ['title', 'state', 'billed'],
  update: true,
  delete: true,
})

const steps = resourceIn(
  'steps',
  {
    task_id: integer({ references: 'tasks', onDelete: 'cascade', filter: true }),
    after_id: integer({ references: 'tasks', onDelete: 'set null' }),
    needs_id: integer({ references: 'tasks', filter: true }),
  },
  { name: 'Step' },
)

const nth = (count: number, name: (n: number) => string, make: (n: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), make(n)]))
const forms = resourceIn(
  'forms',
  {
    title: text(),
    ...nth(
      4,
      (n) => `address_${n}`,
      () => text(),
    ),
    ...nth(
      6,
      (n) => `count${n}`,
      () => integer(),
    ),
    ...nth(
      3,
      (n) => `flag${n}`,
      () => boolean(),
    ),
    ...nth(
      9,
      (n) => `word${n}`,
      () => text(),
    ),
  } as never,
  { name: 'Form', required: ['title'] },
)

const { run, test, service, address, openAs } = await browserSuite('explorer form in a browser', () =>
  startService({ registry: [tasks, steps, forms], explorer: true }),
)

test('each field has the control of its kind, with the rules that the browser knows', async () => {
  const { page, close } = await openAs('/explore/tasks/new')
  const controls =
    await page.evaluate(`Object.fromEntries([...document.querySelectorAll('#create [name]:not([type=hidden])')].map((control) => [
    control.name, [control.type, ...['min', 'max', 'step', 'minlength', 'maxlength', 'pattern'].map((name) => control.getAttribute(name))].join(' ').trim()]))`)
  assert.equal(controls, {
    title: 'text    2 10',
    state: 'select-one',
    size: 'select-one',
    urgent: 'select-one',
    billed: 'checkbox',
    days: 'number 0 366 any',
    due: 'date 2026-01-01 9999-12-31',
    noted: 'date  9999-12-31',
    starts: 'datetime-local  2030-01-01T00:00:00.000',
    code: 'text     18 [A-Z]{2}-\\d+',
    odd: 'text     18',
    notes: 'textarea     2000',
    word: 'text',
  })
  const choices = (name: string) => page.locator(`#field-${name} option`).allTextContents()
  assert.equal(await choices('state'), ['Default: open', 'open', 'done'])
  assert.equal(await choices('size'), ['–', '1', '2', '3'])
  assert.equal(await choices('urgent'), ['–', 'Yes', 'No'])
  assert.match(String(await page.textContent('#help-starts')), /UTC/)
  await close()
})

test('each value is sent as its kind', async () => {
  const { page, close } = await openAs('/explore/tasks/new')
  // A value that the browser would refuse is sent too, and what is incomplete is not left out: the service refuses it, at its field.
  await page.fill('#field-title', '123456')
  await page.focus('#field-starts')
  await page.keyboard.type('0102')
  await page.click('#create button')
  await page.locator('#issue-title', { hasText: 'at most 5' }).waitFor()
  assert.match(String(await page.textContent('#issue-starts')), /must be a time/)
  await page.fill('#field-title', '😀😀😀😀😀')
  await page.selectOption('#field-size', '2')
  await page.selectOption('#field-urgent', 'false')
  await page.check('#field-billed')
  await page.fill('#field-days', '0.5')
  await page.fill('#field-due', '2026-02-28')
  await page.fill('#field-starts', '2026-03-01T09:30')
  const body =
    '{"title":"😀😀😀😀😀","size":2,"urgent":false,"billed":true,"days":0.5,"due":"2026-02-28","starts":"2026-03-01T09:30:00Z"}'
  // The request on the page follows what is typed.
  await page.locator('.request code', { hasText: body }).waitFor()
  await page.click('#create button')
  await page.waitForURL(/\/explore\/tasks\/\d+$/)
  const { id: _, ...stored } = await storedAt(page)
  const { starts, ...sent } = JSON.parse(body)
  assert.equal(stored, {
    state: 'open',
    noted: today().slice(0, 10),
    ...{ code: null, odd: null, notes: null, word: null },
    ...sent,
    starts: '2026-03-01T09:30:00.000Z',
  })
  assert.is(starts, '2026-03-01T09:30:00Z')
  await close()
})

test('each control says its rules in words, and errors name the field as the form does', async () => {
  const { page, close } = await openAs('/explore/tasks/new')
  const help = (name: string) => page.textContent(`#help-${name}`)
  assert.is(await help('title'), '2 to 5 characters.')
  assert.is(await help('code'), 'At most 9 characters, like AB-12.')
  assert.is(await help('days'), '0 to 366.')
  assert.is(await help('due'), '1 Jan 2026 or later.')
  assert.is(await page.evaluate('document.activeElement.id'), 'field-title')
  await page.fill('#field-title', 'Word')
  await page.fill('#field-code', 'x')
  await page.click('#create button')
  await page.locator('#issue-code').filter({ hasText: /./ }).waitFor()
  assert.is(await page.textContent('#issue-code'), 'Code must look like AB-12; “x” does not.')
  await close()
})

test('a reference: a name that one row has needs no choice, and the first click creates', async () => {
  const { id } = await newTask({ title: 'Uniq' })
  const { page, close } = await openAs('/explore/steps/new')
  await page.focus('#field-task_id')
  await page.keyboard.type('uniq')
  await page.locator('[role=option]', { hasText: 'Uniq' }).waitFor()
  const button = await page.locator('#create .primary').boundingBox()
  await page.mouse.click((button?.x ?? 0) + 5, (button?.y ?? 0) + 3)
  await page.waitForURL(/\/explore\/steps\/\d+$/)
  assert.is((await storedAt(page)).task_id, id)
  await close()
})

test('a reference: a name that is sent before its suggestions are there is found first', async () => {
  await newTask({ title: 'Quick' })
  const { page, close } = await openAs('/explore/steps/new')
  await page.fill('#field-task_id', 'quick')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/explore\/steps\/\d+$/)
  await close()
})

test('a reference: a new row is made in place', async () => {
  const { page, problems, close } = await openAs('/explore/steps/new')
  await page.fill('#field-needs_id', 'nothing like it')
  await page.locator('[role=option]', { hasText: 'New task' }).click()
  await page.locator('dialog h2', { hasText: 'New task' }).waitFor()
  assert.equal(await seriousViolations(page), [])
  await page.locator('dialog [name=title]').fill('Made')
  await page.locator('dialog .primary').click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  assert.is(await page.inputValue('#field-needs_id'), 'Made')
  assert.match(String(await page.textContent('.control:has(#field-needs_id) .picked')), /^#\d+$/)
  await page.click('#create .primary')
  await page.waitForURL(/\/explore\/steps\/\d+$/)
  assert.match(String(await page.textContent('dl')), /Made/)
  assert.equal(problems, [])
  await close()
})

test('a long form has groups, and links that jump to them', async () => {
  const { page, close } = await openAs('/explore/forms/new')
  assert.equal(await page.locator('legend').allTextContents(), ['Required', 'Address', 'Numbers', 'Yes or no', 'Texts'])
  await page.click('.jump a >> text=Texts')
  assert.ok(Number((await page.locator('#group-4').boundingBox())?.y) < 900)
  await close()
})

/** The row whose page is shown. */
const storedAt = async (page: Page) =>
  (await (service as TestService).get(new URL(page.url()).pathname.replace('/explore', '/v1'))).body

/** A new task, its page, and an update by somebody else. */
const newTask = async (values: object) => {
  const { create, change } = service as TestService
  const { body } = await create('tasks', { title: 'Old', billed: true, ...values })
  const update = (changed: object) => change(`tasks/${body.id}`, changed)
  return { id: body.id as number, path: `/explore/tasks/${body.id}`, update }
}

test('edit: only what was changed is sent, with the tag that was read', async () => {
  const values = { days: 0.5, due: '2026-02-28', starts: '2026-03-01T09:30:00.120Z', notes: '\na\r\nb', word: 'x' }
  const { path } = await newTask(values)
  const { page, problems, close } = await openAs(path)
  await page.click('text="Edit"')
  await page.locator('#update').waitFor()
  await page.fill('#field-title', 'New')
  await page.fill('#field-word', '')
  await page.uncheck('#field-billed')
  await page.locator('.request code', { hasText: `-d '{"title":"New","billed":false,"word":null}'` }).waitFor()
  assert.match(await page.innerText('.request code'), /If-Match: "[\w-]{22}"/)
  await page.keyboard.press('Enter')
  await page.locator('[role=status]', { hasText: 'saved' }).waitFor()
  // A text keeps the line breaks that a browser would write otherwise.
  assert.is((await storedAt(page)).notes, '\na\r\nb')
  assert.is(new URL(page.url()).pathname, path)
  assert.is(await page.textContent('h1'), 'New')
  assert.equal(problems, [])
  await close()
})

test('edit: what somebody else has changed meanwhile is shown beside what was typed, and the person decides', async () => {
  const { path, update } = await newTask({ word: 'old', size: 1 })
  const { page, close } = await openAs(`${path}/edit`)
  await page.fill('#field-title', 'Mine')
  await page.fill('#field-code', 'AB-1')
  await page.fill('#field-odd', 'mine')
  await update({ title: 'Other', word: 'new', size: 2, odd: 'other' })
  await page.click('#update .primary')
  await page.locator('#error', { hasText: 'Somebody else' }).waitFor()
  const other = (name: string) => page.textContent(`.control:has(#field-${name}) .other`)
  assert.match(String(await other('title')), /Keep Mine Take Other/)
  assert.match(String(await other('word')), /Back to old/)
  assert.is(await page.inputValue('#field-size'), '2')
  assert.match(String(await other('size')), /Back to 1/)
  await page.click('.control:has(#field-title) .other button >> text=Keep')
  assert.is(await page.inputValue('#field-title'), 'Mine')
  await page.focus('#field-odd')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  assert.is(await page.inputValue('#field-odd'), 'other')
  await page.locator('.request code', { hasText: `-d '{"title":"Mine","code":"AB-1"}'` }).waitFor()
  await page.click('#update .primary')
  await page.locator('[role=status]').waitFor()
  const { title, word, size, odd, code } = await storedAt(page)
  assert.equal([title, word, size, odd, code], ['Mine', 'new', 2, 'other', 'AB-1'])
  await close()
})

test('delete: asks once, with what goes with the row; a row that was changed meanwhile is asked about again', async () => {
  const { id, path, update } = await newTask({})
  for (const values of [{ task_id: id }, { task_id: id }, { after_id: id }]) await service?.create('steps', values)
  const { page, close } = await openAs(path)
  await page.click('text="Delete"')
  await page.locator('#delete').waitFor()
  const effects = (await page.locator('.referrers').allInnerTexts()).map((shown) => shown.replaceAll(/\s+/g, ' '))
  assert.equal(effects, [
    'These are deleted too: Steps by task 2',
    'These stay, and refer to nothing afterwards: Steps by after 1',
  ])
  await update({ word: 'x' })
  await page.click('#delete .primary')
  await page.locator('#error', { hasText: 'Somebody else' }).waitFor()
  await page.click('#delete .primary')
  await page.locator('[role=status]', { hasText: `Task #${id} deleted.` }).waitFor()
  assert.is(new URL(page.url()).pathname, '/explore/tasks')
  const prevented = await newTask({})
  await service?.create('steps', { needs_id: prevented.id })
  await page.goto(`${service?.address}${prevented.path}/delete`)
  assert.match(String(await page.textContent('.referrers.error')), /cannot be deleted/)
  assert.is(await page.locator('#delete').count(), 0)
  await close()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the forms are accessible in ${colorScheme} colours, also on a phone`, async () => {
    const { path } = await newTask({})
    const { page, close } = await openAs(path, { colorScheme, viewport: { width: 390, height: 800 } })
    for (const form of ['/explore/tasks/new', `${path}/edit`, `${path}/delete`]) {
      await page.goto(`${address}${form}`)
      assert.equal(await seriousViolations(page), [])
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
    }
    await close()
  })
}

run.run()
