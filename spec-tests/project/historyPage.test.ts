/** docs/history.md: its resource, and the responses that it shows. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callersNamed } from '../support/callers.js'
import { readPage } from '../support/consolePage.js'
import { startService } from '../support/service.js'

const page = readPage('history.md')
const block = (language: string): string => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? ''

const test = suite('docs/history.md')

test('the resource of the page has the history that it shows', async () => {
  const folder = temporaryProject()
  mkdirSync(join(folder, 'resources'))
  writeFileSync(join(folder, 'resources', 'books.ts'), block('ts'))
  const registry = await loadRegistry(folder)
  const service = await startService({ registry, credentials: callersNamed({ ana: { roles: [] } }) })
  for (let n = 1; n < 7; n++) await service.create('books', { title: `Book ${n}` })
  const { id } = (await service.create('books', { title: 'Dune', copies: 2 })).body
  await service.change(`books/${id}`, { copies: 3 })
  const shown = JSON.parse(block('json'))
  const { body } = await service.get(`/v1/books/${id}/history`)
  assert.equal(body.meta, shown.meta)
  assert.equal(
    body.data.map(({ op, changed }: { op: string; changed: object }) => ({ op, changed })),
    shown.data.map(({ op, changed }: { op: string; changed: object }) => ({ op, changed })),
  )
  assert.is((await service.remove(`books/${id}/history`)).status, 204)
})

test.run()
