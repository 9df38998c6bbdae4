/** Restore and undo in a real browser, with JavaScript and without; skipped where no Chromium is installed, and on PostgreSQL. */
import * as assert from 'uvu/assert'
import { json, text } from '../../engine/descriptor/index.js'
import { browserSuite, seriousViolations } from '../support/browser.js'
import { registryFrom } from '../support/registryFrom.js'
import { startService, type TestService } from '../support/service.js'

const registry = registryFrom({
  tasks: {
    name: 'Task',
    area: 'Test',
    table: 'tasks',
    fields: { title: text(), about: text(), data: json() },
    required: ['title'],
    create: true,
    update: true,
    delete: true,
    history: true,
  },
})
const { run, test, service, openAs } = await browserSuite('history in a browser', () =>
  startService({ registry, explorer: true }),
)
const made = async (title: string): Promise<number> => {
  const { create, change } = service as TestService
  const { id } = (await create('tasks', { title, about: 'A text '.repeat(60), data: { a: [1, 2] } })).body
  await change(`tasks/${id}`, { title: `${title} again` })
  return id
}
const titleOf = async (id: number) => (await (service as TestService).get(`/v1/tasks/${id}`)).body.title

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with' : 'without'
  test(`a former state is restored, and a delete undone, ${how} JavaScript`, async () => {
    const id = await made('First')
    const { page, problems, close } = await openAs(`/explore/tasks/${id}`, { javaScriptEnabled })
    if (javaScriptEnabled) assert.equal(await seriousViolations(page), [])
    await page.click('.history button:has-text("Restore")')
    await page.locator('h1', { hasText: /^First$/ }).waitFor()
    assert.is(await titleOf(id), 'First')
    await page.click('a.button:has-text("Delete")')
    await page.click('button.danger')
    await page.locator('.notice', { hasText: 'This row is deleted.' }).waitFor()
    await page.click('.history button:has-text("Undo")')
    await page.locator('h1', { hasText: /^First$/ }).waitFor()
    await page.locator('.history li').nth(4).waitFor()
    assert.is(await titleOf(id), 'First')
    assert.equal(problems, [])
    await close()
  })
}

run.run()
