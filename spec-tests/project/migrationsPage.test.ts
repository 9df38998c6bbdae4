/** docs/migrations.md: each change that it shows is made on a database with rows, by the files that it shows. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createService, type Service } from '../../engine/service.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callCommand } from '../support/callCommand.js'
import { readPage } from '../support/consolePage.js'
import { freshUrl } from '../support/database.js'

const page = readPage('migrations.md')
const API_TOKEN = 'the-token-of-the-page-on-migrations'

const sectionOf = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''

/** The files of a section: those that are only there before the change, and those after it. */
const filesOf = (heading: string): { before: Record<string, string>; after: Record<string, string> } => {
  const files = { before: {} as Record<string, string>, after: {} as Record<string, string> }
  for (const [, code = ''] of sectionOf(heading).matchAll(/^```(?:ts|sql)\n(.*?)^```$/gms)) {
    const [, before, file] = /^(?:\/\/|--) (before: )?((?:resources|migrations)\/\S+)\n/.exec(code) ?? []
    if (file !== undefined) files[before ? 'before' : 'after'][file] = code
  }
  return files
}

const projectOf = (files: Readonly<Record<string, string>>): string => {
  const folder = temporaryProject()
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

const send = async (service: Service, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' }
  const response = await service.fetch(
    new Request(`http://localhost/api/v1/${path}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    }),
  )
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  return { status: response.status, tag: response.headers.get('etag'), body: (await response.json()) as any }
}

interface Changed {
  readonly service: Service
  /** The tags of the lists before the change. */
  readonly tags: Readonly<Record<string, string | null>>
}

/** Stores rows in a project before its change, makes the change, and opens it afterwards. */
const change = async (heading: string, rows: Readonly<Record<string, readonly object[]>>): Promise<Changed> => {
  const { before, after } = filesOf(heading)
  const DATABASE_URL = await freshUrl()
  const settings = { DATABASE_URL, API_TOKEN, DEMO_DATA: 'false', LOG_LEVEL: 'error' }
  const former = await createService({ folder: projectOf(before), settings })
  const tags: Record<string, string | null> = {}
  for (const [path, bodies] of Object.entries(rows)) {
    for (const body of bodies) assert.is((await send(former, path, body)).status, 201)
    tags[path] = (await send(former, path)).tag
  }
  await former.close()
  const folder = projectOf(after)
  const refused = await createService({ folder, settings }).catch((error: Error) => error.message)
  assert.match(String(refused), /migrations\/\S+ has not run on this database\. Run npm run migrate first\./)
  const migrated = await callCommand('migrate', [], { DATABASE_URL }, folder)
  assert.is(migrated.status, 0, migrated.stderr)
  assert.match(migrated.stdout, /^Done: run migrations\/\S+\.$/m)
  assert.match(migrated.stdout, /^The stored counts of all \d tables? match their rows\.$/m)
  const planned = await callCommand('plan', ['--check'], { DATABASE_URL }, folder)
  assert.is(planned.status, 0, planned.stdout)
  return { service: await createService({ folder, settings }), tags }
}

const test = suite('docs/migrations.md')

test('a name is split', async () => {
  const rows = [{ name: 'Ana Ng', email: 'ana@example.com' }, { name: 'Plato' }, { name: 'Bo de Wit' }]
  const { service, tags } = await change('Splitting a name', { people: rows })
  const { body, tag } = await send(service, 'people')
  assert.equal(body.data, [
    { id: 1, first_name: 'Ana', last_name: 'Ng', email: 'ana@example.com' },
    { id: 2, first_name: 'Plato', last_name: null, email: null },
    { id: 3, first_name: 'Bo', last_name: 'de Wit', email: null },
  ])
  assert.is(body.meta.total, 3)
  assert.is.not(tag, tags['people'])
  assert.equal((await send(service, 'people?q=bo%20de')).body.data.length, 1)
  assert.equal((await send(service, 'people?first_name=Plato')).body.meta.total, 1)
  assert.is((await send(service, 'people', { last_name: 'Ng' })).status, 422)
  assert.is((await send(service, 'people', { first_name: 'Cy', email: 'ana@example.com' })).status, 422)
  await service.close()
})

test('the draft of that change is the one on the page', async () => {
  const { before, after } = filesOf('Splitting a name')
  const DATABASE_URL = await freshUrl()
  const settings = { DATABASE_URL, API_TOKEN, DEMO_DATA: 'false', LOG_LEVEL: 'error' }
  const former = await createService({ folder: projectOf(before), settings })
  await send(former, 'people', { name: 'Ana Ng' })
  await former.close()
  const folder = projectOf({ 'resources/people.ts': after['resources/people.ts'] as string })
  const drafted = await callCommand('migrate', ['--draft', 'split-name'], { DATABASE_URL }, folder)
  assert.is(drafted.status, 0, drafted.stderr)
  const [file = ''] = readdirSync(join(folder, 'migrations'))
  assert.match(file, /^\d{4}-\d\d-\d\d-split-name\.sql$/)
  const [, shown] = /^```sql\n(.*?)^```$/ms.exec(sectionOf('A draft')) ?? []
  assert.is(readFileSync(join(folder, 'migrations', file), 'utf8'), shown)
  // It can be completed and run.
  const completed = String(shown)
    .replace('-- update "people" set "first_name" = …;', `update "people" set "first_name" = name;`)
    .replace('-- update "people" set "last_name" = …;', '')
  writeFileSync(join(folder, 'migrations', file), completed)
  assert.is((await callCommand('migrate', [], { DATABASE_URL }, folder)).status, 0)
  const service = await createService({ folder, settings })
  assert.is((await send(service, 'people')).body.data[0].first_name, 'Ana Ng')
  await service.close()
})

test('the ids of a resource become UUIDs', async () => {
  const { service, tags } = await change('A new type of key', {
    devices: [{ label: 'north' }, { label: 'south' }],
    readings: [
      { device_id: 2, value: 0.5 },
      { device_id: 1, value: 7 },
      { device_id: 2, value: 1 },
    ],
  })
  const devices = (await send(service, 'devices')).body.data as { id: string; label: string }[]
  const idOf = (label: string) => devices.find((device) => device.label === label)?.id
  assert.is(devices.length, 2)
  for (const { id } of devices)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const { body, tag } = await send(service, 'readings')
  assert.equal(body.data, [
    { id: 1, device_id: idOf('south'), value: 0.5 },
    { id: 2, device_id: idOf('north'), value: 7 },
    { id: 3, device_id: idOf('south'), value: 1 },
  ])
  assert.is.not(tag, tags['readings'])
  assert.is((await send(service, `readings?device_id=${idOf('south')}`)).body.meta.total, 2)
  assert.is((await send(service, 'devices?q=nor')).body.data[0].id, idOf('north'))
  assert.is((await send(service, 'readings', { device_id: idOf('north'), value: 2 })).status, 201)
  assert.is((await send(service, 'readings', { device_id: crypto.randomUUID(), value: 2 })).status, 422)
  assert.is((await send(service, 'readings', { value: 2 })).status, 422)
  await service.close()
})

test('a table is cut in two', async () => {
  const { service, tags } = await change('Cutting a table in two', {
    customers: [{ name: 'Ana', street: 'High Street 1', city: 'York' }, { name: 'Bo' }, { name: 'Cy', city: 'Bath' }],
  })
  const { body, tag } = await send(service, 'customers')
  assert.equal(body.data, [
    { id: 1, name: 'Ana' },
    { id: 2, name: 'Bo' },
    { id: 3, name: 'Cy' },
  ])
  assert.is.not(tag, tags['customers'])
  assert.equal((await send(service, 'addresses')).body.data, [
    { id: 1, customer_id: 1, street: 'High Street 1', city: 'York' },
    { id: 2, customer_id: 3, street: null, city: 'Bath' },
  ])
  assert.is((await send(service, 'addresses?q=york')).body.meta.total, 1)
  assert.is((await send(service, 'customers?q=york')).body.meta.total, 0)
  assert.is((await send(service, 'addresses', { customer_id: 2 })).body.id, 3)
  assert.is((await send(service, 'addresses', { customer_id: 9 })).status, 422)
  await service.close()
})

test.run()
