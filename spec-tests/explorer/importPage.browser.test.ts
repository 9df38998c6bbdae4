/** Importing a file in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { date, integer, text, timestamp } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const tasks = resourceIn(
  'tasks',
  {
    title: text({ maxLength: 20 }),
    code: text({ unique: true }),
    points: integer({ min: 0, max: 13 }),
    due: date(),
    changed: timestamp({ managed: true }),
  },
  { name: 'Task', required: ['title'], update: true, import: true },
)

const { run, test, service, openAs } = await browserSuite('import in a browser', () =>
  startService({ registry: [tasks], explorer: true }),
)
const row = { points: 1, due: null, changed: null }
const stored = [1, 2].map((id) => ({ id, title: `Task ${id}`, code: `T-${id}`, ...row }))
await service?.fill([{ resource: tasks, rows: stored }])

const choose = (page: Page, text: string | Buffer, name = 'tasks.csv') =>
  page.setInputFiles('#file', { name, mimeType: 'text/csv', buffer: Buffer.from(text) })
const notice = (page: Page) => page.innerText('#result .notice >> nth=0')

test('a file is checked first: issues are at their lines and cells, then counts, then one button', async () => {
  const { page, problems, close } = await openAs('/explore/tasks')
  await page.click('.title >> text=Import')
  await page.waitForSelector('#import:visible')
  await page.click('#import button')
  await page.locator('#issue-file', { hasText: 'Choose a file' }).waitFor()
  await choose(page, 'title,code,points,typo\n"A\nB",T-9,99,x\n\nC,T-1,1,x\n,T-8,1,x\n')
  await page.click('#import button')
  // An unknown column comes first: nothing else is read then.
  await page.locator('#result', { hasText: 'Unknown column "typo"' }).waitFor()
  await page.click('text=Leave it out')
  await page.waitForSelector('#result table')
  assert.match(await notice(page), /^Nothing was imported: 3 errors\.$/)
  const cells = await page.locator('#result tbody tr').allInnerTexts()
  assert.equal(cells.length, 3)
  assert.match(cells[0] ?? '', /^2\tA\nB\tT-9\t99\n[^\t]*13[^\t]*\tx$/)
  assert.match(cells[1] ?? '', /^5\tC\tT-1\n[^\t]*unique[^\t]*\t1\tx$/)
  assert.match(cells[2] ?? '', /^6\t[^\t]*required[^\t]*\tT-8\t1\tx$/i)
  assert.is(await page.locator('#result td.wrong').count(), 3)
  assert.equal(await seriousViolations(page), [])
  // With a match, the row that is there is changed; ids and times that the service sets are left out.
  await choose(
    page,
    'id;title;code;points;changed\r\n1;Task 1;T-1;5;2026-01-01T00:00:00Z\r\n2;Task 2;T-2;1;\r\n;New;T-3;;\r\n',
  )
  await page.locator('#result', { hasText: '2 errors' }).waitFor()
  await page.selectOption('#match', 'code')
  await page.click('#import button')
  await page.locator('#result', { hasText: '3 rows: 1 new, 1 changed, 1 unchanged.' }).waitFor()
  assert.is(await page.locator('.primary:visible').count(), 1)
  assert.equal(await seriousViolations(page), [])
  assert.is((await service?.get('/v1/tasks'))?.body.meta.total, 2)
  await page.click('text=Import 3 rows')
  await page.locator('.notice', { hasText: '1 created, 1 changed, 1 unchanged' }).waitFor()
  assert.match(page.url(), /\/explore\/tasks$/)
  const { body } = (await service?.get('/v1/tasks?sort=id')) ?? { body: {} }
  assert.equal(
    body.data.map(({ title, points }: Record<string, unknown>) => [title, points]),
    [
      ['Task 1', 5],
      ['Task 2', 1],
      ['New', null],
    ],
  )
  assert.equal(
    problems.filter((problem) => !problem.includes('422')),
    [],
  )
  await close()
})

test('JSON, NDJSON, UTF-16 and pasted rows are taken, and a file can be dropped', async () => {
  const { page, problems, close } = await openAs('/explore/tasks/import', {
    colorScheme: 'dark',
    viewport: { width: 390, height: 844 },
  })
  await page.waitForSelector('#import:visible')
  const expectRow = async (text: string) => {
    await page.locator('#result', { hasText: '1 row: 1 new' }).waitFor()
    assert.match(await page.innerText('#result tbody tr'), new RegExp(`\\t${text}`))
  }
  await page.click('text=Paste rows instead')
  await page.fill('#text', ' [{"title":"From JSON","points":2}]')
  await page.click('#import button')
  await expectRow('From JSON')
  await page.fill('#text', '{"title":"From NDJSON"}\n\n')
  assert.not(await page.isVisible('#result'))
  await page.click('#import button')
  await expectRow('From NDJSON')
  await choose(page, Buffer.from('\ufefftitle\tpoints\r\nZoë\t3\r\n', 'utf16le'))
  await expectRow('Zoë')
  await page.evaluate(`{
    const transfer = new DataTransfer()
    transfer.items.add(new File(['title\\nDropped\\n'], 'rows.csv'))
    document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }))
  }`)
  await expectRow('Dropped')
  assert.equal(await seriousViolations(page), [])
  assert.equal(problems, [])
  await close()
})

test('a template can be downloaded', async () => {
  const { page, close } = await openAs('/explore/tasks/import')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download a template')])
  assert.is(download.suggestedFilename(), 'tasks-template.csv')
  await close()
})

run.run()
