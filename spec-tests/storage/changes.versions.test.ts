/** Several versions of the descriptors on one database, on both databases: none undoes what another asks for. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { planStorage } from '../../engine/storage/open.js'
import { freshUrl } from '../support/database.js'
import { apply, refusal, registryOf } from '../support/members.js'
import { startService } from '../support/service.js'

const first = registryOf({ fields: { name: text({ sort: true }), note: text() } })
const second = registryOf({
  fields: { name: text({ sort: true }), color: text({ filter: true, sort: true }), note: text({ filter: true }) },
})
/** As old as the second, on another branch. */
const other = registryOf({ fields: { name: text({ sort: true }), size: text({ filter: true }), note: text() } })

type Service = Awaited<ReturnType<typeof serve>>

const serve = async (registry: Registry, url: string) => {
  const warnings: string[] = []
  const service = await startService({ registry, url, warn: (line) => void warnings.push(line) })
  const names = async (query: string) => {
    const { status, body } = await service.get(`/v1/members${query}`)
    assert.is(status, 200, query)
    return body.data.map(({ name }: { name: string }) => name).toSorted()
  }
  const add = async (values: Record<string, string>) => assert.is((await service.create('members', values)).status, 201)
  return { ...service, warnings, names, add }
}

const isUpToDate = async (registry: Registry, url: string) => {
  const { steps, differences } = await planStorage(registry, url, 5_000)
  assert.equal([steps.map(({ about }) => about), differences.filter(({ isBlocking }) => isBlocking)], [[], []])
}

/** Reads and writes of a version without the color, with everything that its tables need. */
const worksWithoutColor = async ({ names, add, send }: Service, name: string) => {
  await add({ name, note: `Of ${name}` })
  assert.equal(await names(`?q=of%20${name}`), [name])
  assert.ok((await names('?limit=200&sort=-name')).includes(name))
  assert.ok((await names('?limit=200')).includes(name))
  assert.is((await send('/readyz')).status, 200)
}

/** Those of the second: it finds all rows that have a color, whoever has stored them. */
const worksWithColor = async ({ names, add, send }: Service, name: string, all: readonly string[]) => {
  await add({ name, color: 'Green', note: `Of ${name}` })
  const expected = [...all, name].toSorted()
  assert.equal(await names('?q=green&limit=200'), expected)
  assert.equal(await names('?color=Green&limit=200'), expected)
  assert.equal(await names(`?note=Of%20${name}`), [name])
  assert.is((await send('/readyz')).status, 200)
}

const test = suite('versions of descriptors')

test('an older version runs on, starts again and undoes nothing of the newer', async () => {
  const url = await freshUrl()
  const older = await serve(first, url)
  await worksWithoutColor(older, 'Ana')
  const newer = await serve(second, url)
  await worksWithColor(newer, 'Bo', [])
  await worksWithoutColor(older, 'Cy')
  const again = await serve(first, url)
  assert.is(again.warnings.length, 1, again.warnings.join('\n'))
  assert.match(again.warnings[0] ?? '', /was migrated to newer descriptors at .*--apply descriptors:derived-\w+$/)
  await worksWithoutColor(again, 'Dan')
  await worksWithColor(newer, 'Eve', ['Bo'])
  await isUpToDate(first, url)
  await isUpToDate(second, url)
  await worksWithColor(await serve(second, url), 'Flo', ['Bo', 'Eve'])
  await worksWithoutColor(older, 'Gil')
  assert.equal(older.warnings, [])
})

test('a version that has never migrated the database undoes nothing either', async () => {
  const url = await freshUrl()
  const newer = await serve(second, url)
  await worksWithColor(newer, 'Ana', [])
  const older = await serve(first, url)
  await worksWithoutColor(older, 'Bo')
  await worksWithColor(newer, 'Cy', ['Ana'])
  await isUpToDate(second, url)
  await worksWithColor(await serve(second, url), 'Dan', ['Ana', 'Cy'])
  await worksWithoutColor(older, 'Eve')
})

test('two versions with different fields are served beside each other', async () => {
  const url = await freshUrl()
  await serve(first, url)
  const newer = await serve(second, url)
  const branch = await serve(other, url)
  await branch.add({ name: 'Ana', size: 'Huge' })
  await worksWithColor(newer, 'Bo', [])
  assert.equal(await branch.names('?q=huge'), ['Ana'])
  assert.equal(await branch.names('?size=Huge'), ['Ana'])
  await worksWithColor(await serve(second, url), 'Cy', ['Bo'])
  await isUpToDate(second, url)
  await isUpToDate(other, url)
})

test('an older version whose constraints were removed is refused until somebody goes back to it', async () => {
  const url = await freshUrl()
  const unique = registryOf({ fields: { name: text({ unique: true }) } })
  const free = registryOf({ fields: { name: text() } })
  await serve(unique, url)
  const newer = await serve(free, url)
  await newer.add({ name: 'Ana' })
  const message = await refusal(unique, url)
  const [approval = ''] = /descriptors:derived-\w+$/.exec(message) ?? []
  assert.match(message, /do not ask for the index registry_members_unique_name.* Start the service with the newer/)
  await newer.add({ name: 'Bo' })
  await apply(unique, url, approval)
  await isUpToDate(unique, url)
  assert.is((await newer.create('members', { name: 'Ana' })).status, 422)
  await serve(free, url)
  assert.match(await refusal(unique, url), /newer descriptors/)
})

test('a constraint of the newer version stays', async () => {
  const url = await freshUrl()
  const free = registryOf({ fields: { name: text() } })
  const strict = registryOf({ fields: { name: text({ unique: true }) }, required: ['name'] })
  await serve(free, url)
  await serve(strict, url)
  const older = await serve(free, url)
  await older.add({ name: 'Ana' })
  assert.is((await older.create('members', { name: 'Ana' })).status, 422)
  assert.is((await older.create('members', {})).status, 422)
  await isUpToDate(strict, url)
})

test('what only earlier versions ask for is listed, and goes when somebody says so', async () => {
  const url = await freshUrl()
  const filtered = registryOf({ fields: { name: text({ filter: true }), color: text() } })
  const bare = registryOf({ fields: { name: text() } })
  const { add } = await serve(filtered, url)
  await add({ name: 'Ana', color: 'Green' })
  const service = await serve(bare, url)
  const { differences } = await planStorage(bare, url, 5_000)
  const [index] = differences.filter(({ approval }) => approval?.startsWith('descriptors:'))
  assert.match(index?.message ?? '', /only earlier descriptors ask for the index registry_members_filter_name/)
  await apply(bare, url, String(index?.approval))
  assert.equal(await service.names('?q=green'), [])
  await isUpToDate(bare, url)
  await serve(filtered, url)
  await isUpToDate(filtered, url)
})

test.run()
