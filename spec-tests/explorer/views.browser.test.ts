/** What a browser keeps for a table: columns, their order and widths, and named views; skipped where no Chromium is installed, and on PostgreSQL. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { integer, json, text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const tasks = resourceIn(
  'tasks',
  { title: text(), state: text({ filter: true }), points: integer({ sort: true }), notes: text(), extra: json() },
  {
    name: 'Task',
    demo: Array.from({ length: 60 }, (_, n) => ({
      id: n + 1,
      title: `Task ${n + 1}`,
      state: n % 2 ? 'open' : 'done',
      points: n,
      notes: `a, "b" ${n}`,
      extra: { n },
    })),
  },
)

const { run, test, open, address } = await browserSuite('views in a browser', () =>
  startService({ registry: [tasks], explorer: true }),
)

const heads = (page: Page) => page.locator('thead th .raw').allTextContents()
const item = (name: string) => `.boxes li:has([value=${name}])`

test('chosen columns and their order stay, and the address wins', async () => {
  const { page, problems, close } = await open('/explore/tasks')
  await page.click('.columns-menu summary')
  await page.click(`${item('points')} button[aria-label="Before: Points"]`)
  await page.uncheck(`${item('notes')} input`)
  await page.uncheck(`${item('extra')} input`)
  assert.equal(await seriousViolations(page), [])
  await page.click('.columns-menu form > p button')
  await page.waitForURL('**?columns=points,state')
  assert.equal(await heads(page), ['id', 'title', 'points', 'state'])
  // A new visit, a link of another page, and a filter.
  await page.goto(`${address}/explore/tasks`)
  await page.waitForURL('**?columns=points,state')
  assert.equal(await heads(page), ['id', 'title', 'points', 'state'])
  await page.goto(address)
  await page.click('.card a[href="/explore/tasks"]')
  await page.waitForURL('**/explore/tasks?columns=points,state')
  await page.locator('#filters a', { hasText: 'open' }).click()
  await page.waitForURL('**?state=open&columns=points,state')
  await page.goto(`${address}/explore/tasks?columns=notes`)
  await page.waitForTimeout(300)
  assert.equal(await heads(page), ['id', 'title', 'notes'])
  await page.click('.columns-menu summary')
  await page.click('.all-columns')
  await page.waitForURL('**/explore/tasks')
  await page.reload()
  assert.is((await heads(page)).length, 6)
  assert.equal(problems, [])
  await close()
})

test('the width of a column stays, dragged or chosen', async () => {
  const { page, problems, close } = await open('/explore/tasks')
  const width = async (name: string) =>
    Math.round((await page.locator(`th[data-column=${name}]`).boundingBox())?.width ?? 0)
  const edge = await page.locator('th[data-column=points] .edge-of-column').boundingBox()
  const [x, y] = [(edge?.x ?? 0) + 3, (edge?.y ?? 0) + 10]
  const before = await width('points')
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 60, y, { steps: 4 })
  await page.mouse.up()
  const dragged = await width('points')
  assert.ok(dragged >= before + 50, `${before} ${dragged}`)
  await page.click('.columns-menu summary')
  await page.selectOption(`${item('state')} select`, '280')
  assert.is(await width('state'), 280)
  await page.reload()
  assert.equal([await width('points'), await width('state')], [dragged, 280])
  assert.equal(problems, [])
  await close()
})

test('a view is kept by its name', async () => {
  const { page, problems, close } = await open('/explore/tasks?state=open&sort=-points&columns=points,state')
  await page.click('.views summary')
  await page.fill('.views input', 'Open by points')
  await page.keyboard.press('Enter')
  await page.locator('.views li', { hasText: 'Open by points' }).waitFor()
  assert.equal(await seriousViolations(page), [])
  await page.goto(`${address}/explore/tasks`)
  await page.click('.views summary')
  await page.click('.views li a')
  await page.waitForURL('**/explore/tasks?state=open&sort=-points&columns=points,state')
  assert.equal(await heads(page), ['id', 'title', 'points', 'state'])
  await page.click('.views summary')
  await page.click('.forget')
  assert.is(await page.locator('.views li').count(), 0)
  assert.equal(problems, [])
  await close()
})

test('a download has the columns and the rows that are shown, or all', async () => {
  const { page, close } = await open('/explore/tasks?state=open&sort=-points&columns=points,notes,extra', {
    acceptDownloads: true,
  })
  const file = async (place: string) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(place)])
    return readFileSync(await download.path(), 'utf8')
  }
  const shown = (await file('.downloads:has-text("as shown") a >> text="CSV"')).split('\r\n')
  assert.is(shown[0], 'id,title,points,notes,extra')
  assert.is(shown[1], '60,Task 60,59,"a, ""b"" 59","{""n"":59}"')
  assert.is(shown.length, 32)
  const lines = (await file('.downloads:has-text("as shown") a >> text="NDJSON"')).split('\n')
  assert.is(lines[0], '{"id":60,"title":"Task 60","points":59,"notes":"a, \\"b\\" 59","extra":{"n":59}}')
  const all = (await file('.downloads:has-text("Everything") a >> text="CSV"')).split('\r\n')
  assert.is(all[0], 'id,title,state,points,notes,extra')
  assert.is(all.length, 62)
  await close()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the menus are accessible in ${colorScheme} colours, on a phone`, async () => {
    const { page, close } = await open('/explore/tasks', {
      colorScheme,
      hasTouch: true,
      viewport: { width: 390, height: 800 },
    })
    await page.click('.columns-menu summary')
    assert.equal(await seriousViolations(page), [])
    await page.click('.columns-menu summary')
    await page.click('.views summary')
    assert.equal(await seriousViolations(page), [])
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
    await close()
  })

run.run()
