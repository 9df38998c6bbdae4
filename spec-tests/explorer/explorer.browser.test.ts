/** The explorer in a real browser; skipped where no Chromium is installed, and on PostgreSQL, where the pages are the same. */
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { startOffice } from '../support/office.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, token } from '../support/service.js'

const { run, test, address, visit, open, openAs } = await browserSuite('explorer in a browser', () =>
  startOffice({ explorer: true }),
)

test('search: the table follows the typing, "/" focuses the box, and the URL is the state', async () => {
  const { page, problems, close } = await open('/explore/employees')
  await page.keyboard.press('/')
  await page.keyboard.type('ana ng', { delay: 30 })
  await page.locator('.summary', { hasText: '1 employee' }).waitFor()
  assert.is(await page.locator('tbody tr').count(), 1)
  assert.equal(await page.locator('tbody mark').allTextContents(), ['Ana', 'Ng'])
  assert.is(new URL(page.url()).search, '?q=ana+ng')
  assert.is(await page.evaluate('document.activeElement.id'), 'q')
  await page.reload()
  assert.is(await page.locator('tbody tr').count(), 1)
  assert.is(await page.inputValue('#q'), 'ana ng')
  assert.equal(problems, [])
  await close()
})

const hitNotes = [
  // In a field of a long name, in one that is far to the right, in one after a long text, and at the end of a long name.
  { id: 1, name: 'First', designation_of_the_position_held: 'Engineering Manager' },
  { id: 2, name: 'Second', remark: 'Knows engines' },
  { id: 3, name: 'Third', remark: `${'Long before it. '.repeat(300)}engine` },
  { id: 4, name: 'Somebody with a long name, and the engine last' },
  { id: 5, name: 'engine' },
  { id: 6, name: '六', remark: '这是一个关于很多事情的长句子然后 eng 一下' },
]

test('search: every row shows where the text was found, whatever its columns and the width of the screen', async () => {
  const fields = {
    name: text(),
    ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`filler_${n}`, text()])),
    designation_of_the_position_held: text(),
    remark: text(),
  }
  const hits = await startService({
    registry: [resourceIn('notes', fields, { name: 'Note', demo: hitNotes })],
    explorer: true,
  })
  // An ellipsis takes the place of a whole box that does not fit on its line.
  const visible = `[...document.querySelectorAll('tbody tr')].map((row) => [...row.querySelectorAll('mark')].some((mark) => {
    const { left, right, top, bottom } = mark.getBoundingClientRect()
    const isBehindEllipsis = (box) => getComputedStyle(box).display === 'inline-block'
      && getComputedStyle(box.parentElement).textOverflow === 'ellipsis'
      && box.getBoundingClientRect().right > box.parentElement.getBoundingClientRect().right
    for (let box = mark; box !== row; box = box.parentElement) if (isBehindEllipsis(box)) return false
    return document.elementFromPoint(left + Math.min(8, (right - left) / 2), (top + bottom) / 2) === mark
  }))`
  for (const [base, path, rows] of [
    [hits.address, '/explore/notes?q=eng', hitNotes.length],
    [hits.address, '/explore/notes?q=eng&columns=filler_1', hitNotes.length],
    [address, '/explore/employees?q=eng&status=Active&limit=25', 25],
  ] as const) {
    for (const width of [1440, 390]) {
      const { page, close } = await visit(`${base}${path}`, { viewport: { width, height: 2_400 } })
      assert.equal(await page.evaluate(visible), Array(rows).fill(true), `${path} ${width}`)
      await close()
    }
  }
})

test('search: the request of an earlier text is aborted, so the last text wins', async () => {
  const { page, close } = await open('/explore/employees')
  const aborted = page.waitForEvent('requestfailed')
  await page.route('**/explore/employees?q=an', async (route) => {
    await aborted
    await route.continue().catch(() => {})
  })
  await page.fill('#q', 'an')
  await page.waitForRequest('**/explore/employees?q=an')
  await page.fill('#q', 'zzzz')
  assert.match((await aborted).url(), /q=an$/)
  await page.locator('.empty').waitFor()
  assert.is(new URL(page.url()).search, '?q=zzzz')
  await close()
})

test('rows stay when the service does not answer, and "Try again" loads the page', async () => {
  const { page, close } = await open('/explore/employees')
  await page.route('**/explore/employees?*', (route) => route.abort())
  await page.locator('.pager a', { hasText: 'Next' }).click()
  await page.locator('#failure', { hasText: 'did not answer' }).waitFor()
  assert.ok((await page.locator('tbody tr').count()) > 20)
  await page.fill('#q', 'ana ng')
  await page.waitForTimeout(400)
  assert.ok((await page.locator('tbody tr').count()) > 20)
  await page.unroute('**/explore/employees?*')
  await page.click('#failure button')
  await page.locator('.summary', { hasText: '1 employee' }).waitFor()
  assert.is(await page.locator('#failure').count(), 0)
  await close()
})

test('nothing is replaced under a pressed mouse', async () => {
  const { page, close } = await open('/explore/employees')
  const link = await page.locator('tbody .label a').first().boundingBox()
  await page.fill('#q', 'an')
  await page.mouse.move((link?.x ?? 0) + 4, (link?.y ?? 0) + 4)
  await page.mouse.down()
  await page.waitForResponse('**/explore/employees?q=an')
  await page.waitForTimeout(100)
  assert.is(await page.locator('tbody tr').count(), 50)
  await page.mouse.up()
  await page.waitForURL(/employees\/1$/)
  await close()
})

test('back: leads to the place of the table from which a row was opened', async () => {
  const { page, close } = await open('/explore/employees?limit=200', { viewport: { width: 1280, height: 500 } })
  const place = '[scrollY, document.querySelector(".scroll").scrollTop]'
  await page.evaluate('scrollTo(0, 150); document.querySelector(".scroll").scrollTop = 1500')
  assert.equal(await page.evaluate(place), [150, 1500])
  // Not a click of the mouse, before which the link would be scrolled into view.
  await page.evaluate('document.querySelector("a[href=\'/explore/employees/100\']").click()')
  await page.waitForURL('**/explore/employees/100')
  assert.is(await page.evaluate('scrollY'), 0)
  await page.goBack()
  await page.locator('h1', { hasText: 'Employees' }).waitFor()
  await page.waitForFunction(`String(${place}) === '150,1500'`)
  await close()
})

test('filter: a value, a reference by its name, and their removal', async () => {
  const { page, problems, close } = await open('/explore/leave')
  await page.locator('#filters a', { hasText: 'Approved' }).click()
  await page.waitForURL('**/explore/leave?status=Approved')
  await page.fill('#filter-employee_id', 'ana n')
  await page.locator('[role=option]', { hasText: 'Ana Ng' }).click()
  await page.waitForURL('**/explore/leave?status=Approved&employee_id=45')
  assert.match(String(await page.locator('.chosen-filters').textContent()), /Employee: Ana Ng.*Status: Approved/s)
  await page.click('.chosen-filters [aria-label="Remove the filter Status"]')
  await page.waitForURL('**/explore/leave?employee_id=45')
  // With the keyboard alone.
  await page.goto(`${address}/explore/leave`)
  await page.focus('#filter-employee_id')
  await page.keyboard.type('ana ng')
  // Not the options for the first letters.
  await page.locator('[role=option]').first().filter({ hasText: 'Ana Ng' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/explore/leave?employee_id=45')
  assert.equal(problems, [])
  await close()
})

test('create: refused with each issue at its field, then accepted; every submit has its key, and the browser keeps nothing', async () => {
  const { page, close } = await openAs('/explore/leave/new')
  const keys: (string | undefined)[] = []
  page.on('request', (request) => {
    const sent = request.method() === 'POST' ? (request.postData() ?? '') : ''
    if (!sent.includes('"form.show"')) keys.push(/name="form\.key"\s+([\w-]+)/.exec(sent)?.[1])
  })
  await page.click('#create button')
  await page.locator('#issue-leave_type', { hasText: 'Leave type is required.' }).waitFor()
  assert.is(await page.evaluate('document.activeElement.id'), 'field-leave_type')
  await page.fill('#field-leave_type', ' ')
  await page.fill('#field-days', 'two')
  await page.fill('#field-employee_id', '99999')
  await page.click('#create button')
  await page.locator('#issue-days', { hasText: 'Days must be a number' }).waitFor()
  assert.match(String(await page.textContent('#issue-employee_id')), /there is none with id 99999/)
  assert.is(await page.getAttribute('#field-days', 'aria-invalid'), 'true')
  await page.fill('#field-days', '0.30000000000000004')
  await page.fill('#field-leave_type', '<script>alert(1)</script>')
  await page.fill('#field-employee_id', 'ana ng')
  await page.locator('[role=option]', { hasText: 'Ana Ng' }).click()
  assert.is(await page.inputValue('#field-employee_id'), 'Ana Ng')
  assert.is(await page.textContent('.control:has(#field-employee_id) .picked'), '#45')
  await page.locator('.request code', { hasText: '"days":0.30000000000000004' }).waitFor()
  await page.click('#create button')
  await page.waitForURL(/\/explore\/leave\/\d+$/)
  assert.is(await page.locator('h1').textContent(), '<script>alert(1)</script>')
  assert.match(String(await page.textContent('dl')), /0\.30000000000000004/)
  const sent = keys.filter((key) => key !== undefined)
  assert.equal([sent.length, new Set(sent).size], [3, 3])
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
  assert.is(stored, '[{},{},""]')
  await page.locator('[role=status] a', { hasText: 'Create another' }).click()
  await page.locator('#create').waitFor()
  await page.fill('#field-leave_type', 'Sick')
  await page.click('#create button')
  await page.waitForURL(/\/explore\/leave\/\d+$/)
  assert.is(await page.locator('h1').textContent(), 'Sick')
  await close()
})

test('create: an attempt without a response is repeated with its key', async () => {
  const { page, close } = await openAs('/explore/leave/new')
  let attempts = 0
  await page.route('**/explore/leave/new', async (route) => {
    if (route.request().method() !== 'POST' || route.request().postData()?.includes('"form.show"'))
      return route.continue()
    if (++attempts > 1) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await page.fill('#field-leave_type', 'Stored once')
  await page.click('#create button')
  await page.locator('#error', { hasText: 'may or may not have been created' }).waitFor()
  await page.click('#create button')
  await page.waitForURL(/\/explore\/leave\/\d+$/)
  assert.is(attempts, 2)
  await page.goto(`${address}/explore/leave?q=stored+once`)
  assert.match(String(await page.textContent('.summary')), /^1 leave request/)
  await close()
})

test('fields named like the properties of a form or a parameter of the page work', async () => {
  const names = ['action', 'closest', 'dataset', 'method', 'page', 'problem', 'token']
  const fields = Object.fromEntries(names.map((name) => [name, text({ filter: true })]))
  const demo = Array.from({ length: 60 }, (_, n) => ({
    id: n + 1,
    ...Object.fromEntries(names.map((name) => [name, `${name} ${n}`])),
  }))
  const events = resourceIn('events', fields, { name: 'Event', required: ['problem', 'token'], demo })
  const log = await startService({ registry: [events], explorer: true })
  const { page, problems, close } = await visit(`${log.address}/explore/events`)
  await page.fill('#q', 'action 59')
  await page.locator('.summary', { hasText: '1 event' }).waitFor()
  await page.fill('#q', '')
  await page.locator('.summary', { hasText: '60 events' }).waitFor()
  await page.fill('#filter-page', 'page 7')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/explore/events?page=page+7')
  await page.locator('.chosen a').click()
  await page.waitForURL('**/explore/events')
  await page.getByLabel('Page', { exact: true }).fill('2')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/explore/events?offset=50')
  assert.equal(problems, [])
  await page.goto(`${log.address}/explore/sign-in?next=/explore/events/new`)
  await page.fill('#key', token)
  await page.press('#key', 'Enter')
  await page.fill('#field-action', 'sent')
  await page.click('#create button')
  await page.locator('#issue-token', { hasText: 'Token is required.' }).waitFor()
  assert.is(await page.getAttribute('#field-problem', 'aria-invalid'), 'true')
  await page.fill('#field-token', 'abc')
  await page.fill('#field-problem', 'none')
  await page.locator('.request code', { hasText: '{"action":"sent","problem":"none","token":"abc"}' }).waitFor()
  await page.click('#create button')
  await page.waitForURL('**/explore/events/61')
  await close()
})

test('19 columns: nine are in sight at 1280 pixels, the label stays, and the pager is in sight', async () => {
  const { page, close } = await open('/explore/employees', { viewport: { width: 1280, height: 800 } })
  const inSight = `[...document.querySelectorAll('thead th')].filter((head) => {
    const [cell, box] = [head, head.closest('.scroll')].map((one) => one.getBoundingClientRect())
    return cell.left >= box.left && cell.right <= box.right + 1
  }).length`
  assert.ok((await page.evaluate<number>(inSight)) >= 9)
  await page.evaluate('document.querySelector(".scroll").scrollLeft = 700')
  const label = await page.locator('tbody .label').first().boundingBox()
  const first = await page.locator('tbody .id').first().boundingBox()
  assert.is(Math.round(label?.x ?? 0), Math.round((first?.x ?? 0) + (first?.width ?? 0)))
  const pager = await page.locator('.pager').boundingBox()
  assert.ok((pager?.y ?? 0) + (pager?.height ?? 0) <= 800)
  await page.click('.chooser summary')
  await page.uncheck('.chooser [value=email]')
  await page.click('.columns-menu form > p button')
  await page.waitForURL('**?columns=code,dept_id,**')
  assert.is(await page.locator('th', { hasText: 'Email' }).count(), 0)
  await close()
})

test('create: dates are picked or typed, stored values are suggested, and a half-filled form is not left by mistake', async () => {
  const { page, problems, close } = await openAs('/explore/leave/new')
  await page.fill('.with-picker:has(#field-from_date) .picker', '2026-03-01')
  assert.is(await page.inputValue('#field-from_date'), '2026-03-01')
  await page.fill('#field-to_date', 'some day')
  await page.fill('#field-status', 'app')
  await page.locator('[role=option]', { hasText: 'Approved' }).click()
  assert.is(await page.inputValue('#field-status'), 'Approved')
  await page.locator('.request code', { hasText: '"to_date":"some day","status":"Approved"' }).waitFor()
  await page.locator('.crumbs a', { hasText: 'Leave requests' }).click()
  assert.match(String(problems), /dialog: Leave this page/)
  assert.match(page.url(), /new$/)
  await close()
})

test('a large table: values and their counts follow the page, also while searching', async () => {
  const fields = { name: text(), kind: text({ filter: true }) }
  const demo = Array.from({ length: 6_000 }, (_, n) => ({
    id: n + 1,
    name: `thing ${n}`,
    kind: n % 2 ? 'odd' : 'even',
  }))
  const many = await startService({ registry: [resourceIn('things', fields, { name: 'Thing', demo })], explorer: true })
  const { page, problems, close } = await visit(`${many.address}/explore/things`)
  await page.locator('#filters .figure', { hasText: '3,000' }).first().waitFor()
  await page.fill('#q', 'thing 59')
  await page.locator('#filters .figure', { hasText: /^5\d$/ }).first().waitFor()
  await page.locator('#filters a', { hasText: 'odd' }).click()
  await page.waitForURL('**/explore/things?q=thing+59&kind=odd')
  assert.equal(problems, [])
  await close()
})

test('long names and descriptions keep the layout', async () => {
  const word = 'Supercalifragilistic'.repeat(5)
  const more = { name: word, area: word, about: word, demo: [{ id: 1, name: word }] }
  const things = resourceIn('things', { name: text() }, more)
  const { address: longNames } = await startService({ registry: [things], explorer: true })
  for (const width of [390, 1280]) {
    const { page, close } = await visit(longNames, { viewport: { width, height: 844 } })
    await page.goto(`${longNames}/explore/sign-in`)
    await page.fill('#key', token)
    await page.press('#key', 'Enter')
    await page.locator('.sign-out').waitFor()
    for (const path of ['/', '/explore/things', '/explore/things/1', '/explore/things/new']) {
      await page.goto(`${longNames}${path}`)
      assert.is(await page.evaluate('document.documentElement.scrollWidth'), width, path)
    }
    await close()
  }
})

test('copy: the curl line is on the clipboard', async () => {
  const { page, close } = await open('/explore/employees/7', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.click('[data-copy]')
  await page.locator('[data-copy]', { hasText: 'Copied' }).waitFor()
  assert.is(await page.evaluate('navigator.clipboard.readText()'), `curl '${address}/api/v1/employees/7'`)
  await close()
})

test('no JavaScript: search, filters, pages and rows work', async () => {
  const { page, problems, close } = await open('/explore/employees', { javaScriptEnabled: false })
  await page.fill('#q', 'ana')
  await page.keyboard.press('Enter')
  await page.waitForURL('**?q=ana')
  await page.locator('#filters a', { hasText: 'Active' }).first().click()
  await page.waitForURL('**?q=ana&status=Active')
  await page.fill('#filter-dept_id', 'Engineering')
  await page.keyboard.press('Enter')
  await page.waitForURL(/q=ana&status=Active&dept_id=\d+$/)
  await page.goto(`${address}/explore/attendance`)
  await page.fill('.pager input[name=page]', '4')
  await page.click('.pager button')
  await page.waitForURL('**?offset=150')
  await page.locator('tbody th a').first().click()
  await page.waitForURL('**/explore/attendance/151')
  assert.not.ok(await page.isVisible('[data-copy]'))
  await page.goto(`${address}/explore/leave/new`)
  await page.click('main >> text=Sign in >> nth=-1')
  await page.waitForURL('**/sign-in?next=%2Fexplore%2Fleave%2Fnew')
  assert.equal(problems, [])
  await close()
})

const pages = [
  ...['', 'explore/employees?offset=150', 'explore/leave?q=an&status=Approved', 'explore/employees/7'],
  ...['explore/leave?offset=1000', 'explore/nothing'],
]
/** The parts of a page that scroll downwards within it. */
const scrolling = `[...document.querySelectorAll('main *')].filter((one) =>
  /auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 1).length`
for (const { colorScheme, width } of [
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1280 },
] as const) {
  test(`${colorScheme}, ${width} pixels: nothing is cut off, and axe finds nothing serious`, async () => {
    const hasTouch = width === 390
    const { page, problems, close } = await open('/', { colorScheme, hasTouch, viewport: { width, height: 844 } })
    for (const path of pages) {
      await page.goto(`${address}/${path}`)
      assert.equal(await seriousViolations(page), [], path)
      assert.is(await page.evaluate('document.documentElement.scrollWidth'), width, path)
      // On a phone, nothing scrolls within the page but a wide table, sideways.
      if (hasTouch) assert.is(await page.evaluate(scrolling), 0, path)
      // The last page is a 404, which the console reports.
      if (path !== 'explore/nothing') assert.equal(problems, [], path)
    }
    await close()
  })
}

run.run()
