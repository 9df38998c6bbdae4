/** Finding anything by keyboard in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const people = resourceIn('people', { name: text() }, { name: 'Person', plural: 'People', update: true })
const rooms = resourceIn('rooms', { name: text() }, { name: 'Room', plural: 'Rooms' })
const { run, test, service, open, openAs } = await browserSuite('find anything in a browser', () =>
  startService({ registry: [people, rooms], explorer: true }),
)
await service?.fill([
  { resource: people, rows: ['Ada', 'Adam'].map((name, n) => ({ id: n + 1, name })) },
  { resource: rooms, rows: [{ id: 1, name: 'Adas room' }] },
])

test('Ctrl+K finds rows of all tables, and the keyboard goes through them', async () => {
  const { page, problems, close } = await open('/')
  await page.keyboard.press('Control+k')
  await page.waitForSelector('dialog[open] .found a >> text=Rooms')
  assert.equal(await seriousViolations(page), [])
  await page.keyboard.type('adam')
  await page.waitForSelector('dialog .found a >> text=Adam')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/explore\/people\/2$/)
  await page.waitForSelector('dialog', { state: 'hidden' })
  // Also while something is typed.
  await page.goto(`${new URL(page.url()).origin}/explore/people`)
  await page.focus('#q')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('ada')
  await page.waitForSelector('dialog .found a >> text=Adas room')
  const shown = await page.locator('dialog[open] .found').innerText()
  const matches = [...shown.matchAll(/(\d+) match/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  assert.is(await page.innerText('dialog[open] [role=status]'), `${matches} found`)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  assert.match(await page.evaluate('document.activeElement.textContent'), /^Adam/)
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.type('s')
  await page.waitForSelector('dialog .found a >> text=Adam', { state: 'detached' })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/explore\/rooms\/1$/)
  assert.equal(problems, [])
  await close()
})

test('a slash goes to the search of the table, a second one finds anything', async () => {
  const { page, close } = await open('/explore/people')
  await page.keyboard.press('/')
  assert.is(await page.evaluate('document.activeElement.id'), 'q')
  await page.keyboard.press('/')
  await page.waitForSelector('dialog[open]')
  assert.is(await page.inputValue('#q'), '')
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'hidden' })
  await page.fill('#q', 'a')
  await page.keyboard.type('/')
  assert.is(await page.inputValue('#q'), 'a/')
  await close()
})

test('a question mark lists the shortcuts', async () => {
  const { page, close } = await openAs('/explore/people/1', { colorScheme: 'dark' })
  await page.keyboard.press('?')
  await page.waitForSelector('dialog[open] >> text=Keyboard shortcuts')
  assert.match(await page.innerText('dialog[open]'), /Ctrl K/)
  assert.equal(await seriousViolations(page), [])
  await page.keyboard.press('Escape')
  await page.goto(`${new URL(page.url()).origin}/explore/people/1/edit`)
  await page.focus('#field-name')
  await page.keyboard.type('?')
  assert.is(await page.locator('dialog[open]').count(), 0)
  await close()
})

test('the link opens it on a phone, and is a page without JavaScript', async () => {
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
  const { page, close } = await open('/', phone)
  await page.click('text=Find')
  await page.waitForSelector('dialog[open] .found a')
  assert.equal(await seriousViolations(page), [])
  await page.mouse.click(195, 840)
  await page.waitForSelector('dialog', { state: 'hidden' })
  await close()
  const plain = await open('/', { ...phone, javaScriptEnabled: false })
  await plain.page.click('text=Find')
  await plain.page.fill('.find-box', 'adam')
  await plain.page.click('main button')
  await plain.page.click('text=Adam')
  assert.match(plain.page.url(), /\/explore\/people\/2$/)
  await plain.close()
})

run.run()
