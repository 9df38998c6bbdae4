/** The docs page in a real browser; skipped where no Chromium is installed, and on PostgreSQL, where the page is the same. */
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { office } from '../support/office.js'
import { startService, token } from '../support/service.js'

/** Two resources show what all do, and a page with more takes seconds to render. */
const registry = office
  .filter(({ path }) => path === 'leave' || path === 'organizations')
  .map((resource) => ({ ...resource, fields: resource.fields.map(({ references, ...field }) => field) }))

const { run, test, address, visit } = await browserSuite('docs page in a browser', () => startService({ registry }))

const operation = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`)

/** Opens the page with some operations expanded. */
const open = async (ids: readonly string[] = [], options = {}) => {
  const opened = await visit(`${address}/api/docs`, options)
  await opened.page.locator('.opblock').first().waitFor()
  for (const id of ids) await operation(opened.page, id).locator('.opblock-summary-control').click()
  return opened
}

const authorize = async (page: Page): Promise<void> => {
  await page.click('.auth-wrapper .authorize')
  await page.fill('.dialog-ux input', token)
  await page.click('.dialog-ux .authorize')
  await page.click('.dialog-ux .btn-done')
}

/** Sends the request of an operation and returns the status that the page shows. */
const execute = async (page: Page, id: string): Promise<string> => {
  await operation(page, id).locator('.execute').click()
  const status = operation(page, id).locator('.live-responses-table .response .response-col_status').first()
  return String(await status.textContent())
}

test('an open operation shows bounds and defaults, and creates with its example', async () => {
  const { page, problems, close } = await open(['listLeaveRequests', 'createLeaveRequest', 'createOrganization'])
  const limit = await operation(page, 'listLeaveRequests').locator('[data-param-name=limit]').textContent()
  assert.match(String(limit), /default: 50\s*minimum: 1\s*maximum: 200/)
  await authorize(page)
  assert.match(await execute(page, 'createLeaveRequest'), /^201/)
  assert.match(await execute(page, 'createOrganization'), /^201/)
  const snippet = operation(page, 'createOrganization').locator('.request-snippets')
  assert.match(String(await snippet.textContent()), /PowerShell.*curl -X 'POST'.*\/api\/v1\/organizations/s)
  const create = operation(page, 'createLeaveRequest')
  await create.locator('.tablinks', { hasText: 'Schema' }).first().click()
  await create.locator('.json-schema-2020-12', { hasText: 'Default: Pending' }).first().waitFor()
  assert.equal(problems, [])
  await close()
})

for (const [device, width, height] of [
  ['desktop', 1280, 900],
  ['phone', 390, 844],
] as const) {
  test(`an open operation fits two screens of a ${device}, and opens what is closed`, async () => {
    const { page, close } = await open(['listLeaveRequests'], { viewport: { width, height } })
    const list = operation(page, 'listLeaveRequests')
    const { height: shown } = (await list.boundingBox()) ?? { height: 9_999 }
    assert.ok(shown <= 2 * height, `${shown} px`)
    await list.locator('.toggle').last().click()
    await list.locator('.response .highlight-code').nth(1).waitFor()
    if (device === 'phone') await list.locator('.toggle', { hasText: 'employee_id.in' }).press('Enter')
    if (device === 'phone') await list.locator('[data-param-name="employee_id.in"] button:focus').waitFor()
    await close()
  })
}

for (const { colorScheme, width } of [
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1280 },
] as const) {
  test(`${colorScheme}, ${width} pixels: nothing is cut off, headings are low, and axe finds nothing serious`, async () => {
    const viewport = { width, height: 844 }
    const { page, problems, close } = await open(['createLeaveRequest', 'listLeaveRequests'], { colorScheme, viewport })
    await page.click('.auth-wrapper .authorize')
    assert.equal(await seriousViolations(page, '.dialog-ux'), [])
    await page.click('.dialog-ux .btn-done')
    await authorize(page)
    await execute(page, 'createLeaveRequest')
    await execute(page, 'listLeaveRequests')
    assert.equal(await seriousViolations(page), [])
    assert.is(await page.evaluate('document.documentElement.scrollWidth'), width)
    const heights = await page.locator('h1, h2, h3, h4, h5').evaluateAll((all) => all.map((one) => one.clientHeight))
    assert.ok(heights.length > 10)
    const levels = await page
      .locator('h1, h2, h3, h4, h5')
      .evaluateAll((all) => all.map((one) => Number(one.ariaLevel ?? one.localName[1])))
    assert.equal(
      levels.filter((level, n) => level > (levels[n - 1] ?? 0) + 1),
      [],
    )
    if (width === 390) assert.ok(Math.max(...heights) <= 120, `the tallest heading has ${Math.max(...heights)} px`)
    assert.equal(problems, [])
    await close()
  })
}

run.run()
