/** Grouping a table in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { date, integer, text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const tasks = resourceIn(
  'tasks',
  {
    title: text(),
    state: text({ filter: true }),
    points: integer({ range: true }),
    due: date({ range: true, filter: true }),
  },
  { name: 'Task', summary: true },
)
const { run, test, service, open } = await browserSuite('groups in a browser', () =>
  startService({ registry: [tasks], explorer: true }),
)
const states = ['open', 'done', 'done']
const rows = states.map((state, n) => ({
  id: n + 1,
  title: `Task ${n}`,
  state,
  points: n - 1,
  due: `2026-0${n + 1}-01`,
}))
await service?.fill([{ resource: tasks, rows }])

test('a table is grouped by its form, and a group shows its rows', async () => {
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    const { page, problems, close } = await open('/explore/tasks', { colorScheme, viewport: { width, height: 844 } })
    await page.click('summary >> text=Group')
    assert.equal(await seriousViolations(page), [])
    const { x, width: size } = (await page.locator('.group-form').boundingBox()) ?? { x: 0, width: 0 }
    assert.ok(x >= 0 && x + size <= width, `the form is from ${x} to ${x + size}`)
    await page.selectOption('.group-form select >> nth=0', 'state')
    await page.check('[name=sum][value=points]')
    await page.click('.group-form button')
    await page.waitForSelector('.groups')
    assert.is(new URL(page.url()).search, '?by=state&sum=points')
    assert.equal(await page.locator('.bars li').allInnerTexts(), ['done\n1', 'open\n-1'])
    assert.equal(await seriousViolations(page), [])
    // The search narrows the groups while it is typed.
    await page.fill('#q', 'Task 2')
    await page.locator('.summary', { hasText: '1 task in 1 group' }).waitFor()
    await page.click('.bars a')
    await page.waitForSelector('.label >> text=Task 2')
    assert.is(new URL(page.url()).search, '?q=Task+2&state=done')
    await page.goBack()
    await page.waitForSelector('.groups')
    assert.equal(problems, [])
    await close()
  }
})

test('sums of numbers are shown at the foot of a table on demand', async () => {
  const { page, close } = await open('/explore/tasks')
  await page.click('text=Sums')
  await page.waitForSelector('tfoot')
  assert.match(await page.innerText('tfoot'), /^Sum\s+0\s*$/)
  assert.equal(await seriousViolations(page), [])
  await close()
})

test('without JavaScript the form works too', async () => {
  const { page, close } = await open('/explore/tasks', { javaScriptEnabled: false })
  await page.click('summary >> text=Group')
  await page.selectOption('.group-form select >> nth=0', 'due.month')
  await page.click('.group-form button')
  await page.waitForSelector('.groups')
  assert.is(new URL(page.url()).search, '?by=due.month')
  await close()
})

run.run()
