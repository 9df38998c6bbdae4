/** The docs page in a real browser; skipped where no Chromium is installed, and on PostgreSQL, where the page is the same. */
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { office } from '../support/office.js'
import { authorized, startService, token } from '../support/service.js'

/** Two resources show what all do, and a page with more takes seconds to render. */
const registry = office
  .filter(({ path }) => path === 'leave' || path === 'organizations')
  .map(({ fields, ...resource }) => ({
    ...resource,
    update: true,
    delete: true,
    fields: fields.map(({ references, ...field }) => field),
  }))

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

for (const { device, colorScheme, width, height } of [
  { device: 'phone', colorScheme: 'light', width: 390, height: 844 },
  { device: 'desktop', colorScheme: 'dark', width: 1280, height: 900 },
] as const) {
  const isPhone = device === 'phone'
  const ids = ['listLeaveRequests', 'createLeaveRequest', ...(isPhone ? [] : ['createOrganization'])]
  let opened: Awaited<ReturnType<typeof open>>

  test(`${device}: an open operation shows bounds and defaults, and fits two screens`, async () => {
    opened = await open(ids, { colorScheme, viewport: { width, height } })
    const list = operation(opened.page, 'listLeaveRequests')
    const limit = isPhone ? undefined : await list.locator('[data-param-name=limit]').textContent()
    if (!isPhone) assert.match(String(limit), /default: 50\s*minimum: 1\s*maximum: 200/)
    const { height: shown } = (await list.boundingBox()) ?? { height: 9_999 }
    assert.ok(shown <= 2 * height, `${shown} px`)
  })

  test(`${device}, ${colorScheme}: nothing is cut off, headings are low, and axe finds nothing serious`, async () => {
    const { page } = opened
    await page.click('.auth-wrapper .authorize')
    assert.equal(await seriousViolations(page, '.dialog-ux'), [])
    await page.click('.dialog-ux .btn-done')
    await authorize(page)
    for (const id of ids) assert.match(await execute(page, id), id.startsWith('create') ? /^201/ : /^200/)
    assert.equal(await seriousViolations(page), [])
    assert.is(await page.evaluate('document.documentElement.scrollWidth'), width)
    const headings = page.locator('h1, h2, h3, h4, h5')
    const heights = await headings.evaluateAll((all) => all.map((one) => one.clientHeight))
    assert.ok(heights.length > 10)
    const levels = await headings.evaluateAll((all) => all.map((one) => Number(one.ariaLevel ?? one.localName[1])))
    assert.equal(
      levels.filter((level, n) => level > (levels[n - 1] ?? 0) + 1),
      [],
    )
    if (isPhone) assert.ok(Math.max(...heights) <= 120, `the tallest heading has ${Math.max(...heights)} px`)
  })

  test(`${device}: what is closed opens, by a click or a key, and a create shows its command and its defaults`, async () => {
    const { page, problems, close } = opened
    const snippet = operation(page, 'createLeaveRequest').locator('.request-snippets')
    assert.match(String(await snippet.textContent()), /PowerShell.*curl -X 'POST'.*\/api\/v1\/leave/s)
    const create = operation(page, 'createLeaveRequest')
    await create.locator('.tablinks', { hasText: 'Schema' }).first().click()
    await create.locator('.json-schema-2020-12', { hasText: 'Default: Pending' }).first().waitFor()
    const list = operation(page, 'listLeaveRequests')
    await list.locator('.toggle').last().click()
    await list.locator('.response .highlight-code').nth(1).waitFor()
    if (isPhone) await list.locator('.toggle', { hasText: 'employee_id.in' }).press('Enter')
    if (isPhone) await list.locator('[data-param-name="employee_id.in"] button:focus').waitFor()
    assert.equal(problems, [])
    await close()
  })
}

test('on a phone, rows are changed and deleted', async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const { page, problems, close } = await open(['updateLeaveRequest', 'deleteLeaveRequest'], phone)
  await authorize(page)
  const created = await fetch(`${address}/api/v1/leave`, {
    method: 'POST',
    headers: authorized,
    body: '{"leave_type":"Annual"}',
  })
  const { id } = (await created.json()) as { id: number }
  for (const [name, expected] of [
    ['updateLeaveRequest', /^200/],
    ['deleteLeaveRequest', /^204/],
  ] as const) {
    await operation(page, name).locator('[data-param-name=item_id] input').fill(String(id))
    const body = operation(page, name).locator('.body-param__text')
    if (name === 'updateLeaveRequest') await body.fill('{"days": 2}')
    assert.match(await execute(page, name), expected)
  }
  assert.is(await page.evaluate('document.documentElement.scrollWidth'), 390)
  assert.equal(problems, [])
  await close()
})

test('no box is dark on a light page', async () => {
  const { page, close } = await open(['getHealth'], { colorScheme: 'light' })
  await execute(page, 'getHealth')
  const colours = (await page.evaluate(
    `[...document.querySelectorAll('pre, .curl-command .btn')].map((one) => getComputedStyle(one).backgroundColor)`,
  )) as string[]
  assert.ok(colours.length > 4)
  const isDark = (colour: string) => Math.min(...(colour.match(/\d+/g) ?? []).slice(0, 3).map(Number)) < 200
  assert.equal(colours.filter(isDark), [])
  await close()
})

test('the address opens an operation, also that of the page that is shown', async () => {
  const { page, close } = await visit(`${address}/api/docs#/System/getHealth`)
  await operation(page, 'getHealth').locator('.execute').waitFor()
  assert.is(await page.locator('.opblock.is-open').count(), 1)
  await page.evaluate("location.hash = '#/System/getIndex'")
  await operation(page, 'getIndex').locator('.execute').waitFor()
  await close()
})

test('the page says that it loads, and without JavaScript where the documents are', async () => {
  const { page, close } = await visit('about:blank')
  await page.route('**/swagger-ui-bundle.js', (route) => route.abort())
  await page.goto(`${address}/api/docs`)
  await page.locator('#loading', { hasText: 'could not be loaded' }).waitFor()
  assert.match(await (await fetch(`${address}/api/docs`)).text(), /role="status">Loading the API docs …</)
  await close()
  const plain = await visit(`${address}/api/docs`, { javaScriptEnabled: false })
  const links = await plain.page.locator('.loading a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  assert.equal(links, ['/api/openapi.json', '/swagger.json'])
  assert.not(await plain.page.isVisible('#loading'))
  await plain.close()
  const shown = await open()
  assert.not(await shown.page.isVisible('#loading'))
  await shown.close()
})

run.run()
