/** Signing in, working and signing out in a real browser; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/access.js'
import { number, text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

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
const callers = { hr: { roles: ['hr'] }, ana: { roles: [], claims: { person_id: 2 } } }

const { run, test, service, open } = await browserSuite('sign-in in a browser', () =>
  startService({ registry: [people], explorer: true, credentials: callersNamed(callers) }),
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
  assert.is(await page.inputValue('#field-name'), 'Ana')
  await close()
})

run.run()
