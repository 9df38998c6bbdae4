/** The form of the explorer for every kind and rule, in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { boolean, date, integer, number, text, timestamp, today } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, token } from '../support/service.js'

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
  code: text({ maxLength: 9, pattern: '[A-Z]{2}-\\d+' }),
  odd: text({ maxLength: 9, pattern: '[a-z|]+' }),
  notes: text({ maxLength: 1_000 }),
  word: text(),
}
const tasks = resourceIn('tasks', fields, { name: 'Task', required: ['title', 'state', 'billed'] })

const { run, test, address, visit } = await browserSuite('explorer form in a browser', () =>
  startService({ registry: [tasks], explorer: true }),
)

const open = (path: string, options = {}) => visit(`${address}${path}`, options)

test('each field has the control of its kind, with the rules that the browser knows', async () => {
  const { page, close } = await open('/explore/tasks/new')
  const controls =
    await page.evaluate(`Object.fromEntries([...document.querySelectorAll('#create [name]')].map((control) => [
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
    starts: 'datetime-local  2030-01-01T00:00:00.000 0.001',
    code: 'text     18 [A-Z]{2}-\\d+',
    odd: 'text     18',
    notes: 'textarea     2000',
    word: 'text',
  })
  const choices = (name: string) => page.locator(`#field-${name} option`).allTextContents()
  assert.equal(await choices('state'), ['Default: open', 'open', 'done'])
  assert.equal(await choices('size'), ['–', '1', '2', '3'])
  assert.equal(await choices('urgent'), ['–', 'true', 'false'])
  assert.match(String(await page.textContent('#help-starts')), /UTC/)
  await close()
})

test('each value is sent as its kind', async () => {
  const { page, close } = await open('/explore/tasks/new')
  await page.fill('#field-title', '😀😀😀😀😀')
  await page.selectOption('#field-size', '2')
  await page.selectOption('#field-urgent', 'false')
  await page.check('#field-billed')
  await page.fill('#field-days', '0.5')
  await page.fill('#field-due', '2026-02-28')
  await page.fill('#field-starts', '2026-03-01T09:30')
  const body =
    '{"title":"😀😀😀😀😀","size":2,"urgent":false,"billed":true,"days":0.5,"due":"2026-02-28","starts":"2026-03-01T09:30:00Z"}'
  assert.ok(String(await page.textContent('.request code')).includes(body))
  await page.fill('#token', token)
  const sent = page.waitForRequest('**/api/v1/tasks')
  await page.click('#create button')
  assert.is((await sent).postData(), body)
  await close()
})

test('the service refuses, at its field, what the browser would', async () => {
  const { page, close } = await open('/explore/tasks/new')
  await page.fill('#field-title', '123456')
  await page.fill('#field-days', '367')
  await page.fill('#field-due', '2025-12-31')
  await page.fill('#field-code', 'ab-1')
  await page.focus('#field-starts')
  await page.keyboard.type('0102')
  await page.fill('#token', token)
  await page.click('#create button')
  await page.locator('#problem:not([hidden])').waitFor()
  const issues = {
    title: /at most 5/,
    days: /at most 366/,
    due: /2026-01-01 or later/,
    code: /must match/,
    starts: /must be a time/,
  }
  for (const [name, message] of Object.entries(issues))
    assert.match(String(await page.textContent(`#issue-${name}`)), message)
  await close()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the form is accessible in ${colorScheme} colours, also on a phone`, async () => {
    const { page, close } = await open('/explore/tasks/new', { colorScheme, viewport: { width: 390, height: 800 } })
    assert.equal(await seriousViolations(page), [])
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
    await close()
  })
}

run.run()
