/** The rules on descriptors, on made-up ones: each mistake is told with its file, its field and the nearest right name. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { verifyDemo, verifyLinks } from '../engine/descriptor/demo.js'
import { defineResource, integer, now, number, text } from '../engine/descriptor/index.js'
import { loadRegistry } from '../engine/descriptor/load.js'
import { resourceFrom } from '../engine/descriptor/registry.js'
import { verify } from '../engine/descriptor/verify.js'
import { temporaryFolder } from '../support/cleanup.js'

const sound = {
  name: 'Thing',
  area: 'Things',
  table: 'things',
  fields: { title: text() },
  required: ['title'],
  create: true,
}
const other = { ...sound, name: 'Owner', table: 'owners' }

/** The faults of a descriptor that stands beside a sound one. */
const faultsOf = (exported: unknown, path = 'things'): string[] => {
  const candidates = [
    { file: 'resources/owners.ts', path: 'owners', exported: other },
    { file: `resources/${path}.ts`, path, exported },
  ]
  return verify(candidates).faults.map(({ file, field, problem }) => `${file} ${field ?? '-'} ${problem}`)
}
const withFields = (fields: object, rest: object = {}) => ({ ...sound, fields: { title: text(), ...fields }, ...rest })
const loosely = (value: unknown) => value as never

const cases: [what: string, exported: unknown, ...says: RegExp[]][] = [
  [
    'a reference to no resource',
    withFields({ owner_id: integer({ references: 'owner' }) }),
    /owner_id references "owner".*did you mean "owners"/,
  ],
  ['required naming no field', { ...sound, required: ['titel'] }, /required names "titel".*did you mean "title"/],
  ['required naming a field twice', { ...sound, required: ['title', 'title'] }, /required names "title" twice/],
  [
    'unique naming no field',
    withFields({ slug: text({ unique: ['titl'] }) }),
    /slug unique within "titl".*did you mean "title"/,
  ],
  ['unique within nothing', withFields({ slug: text({ unique: [] }) }), /slug unique is an empty list/],
  ['unique within itself', withFields({ slug: text({ unique: ['slug'] }) }), /slug is unique within itself/],
  ['a table that is taken', { ...sound, table: 'owners' }, /both say table "owners"/],
  ['a name that is taken', { ...sound, name: 'Owner' }, /both say name "Owner"/],
  [
    'a default of the wrong kind',
    withFields({ size: integer({ default: loosely('3') }) }),
    /size default is "3".*whole number/,
  ],
  [
    'a default function of the wrong kind',
    withFields({ size: number({ default: loosely(now) }) }),
    /size default gives a value.*finite number/,
  ],
  [
    'a default function that throws',
    withFields({
      size: number({
        default: () => {
          throw new Error('boom')
        },
      }),
    }),
    /size default gives a value.*boom/,
  ],
  ['an example of the wrong kind', withFields({ size: integer({ example: 1.5 }) }), /size example is 1\.5/],
  [
    'a managed field with a default',
    withFields({ made: text({ managed: now, default: 'x' }) }),
    /made is managed and has a default/,
  ],
  [
    'a managed required field without a value',
    withFields({ made: text({ managed: true }) }, { required: ['made'] }),
    /made is required and managed without a value/,
  ],
  [
    'a field named like a query parameter',
    withFields({ limit: integer(), q: text(), offset: integer() }),
    /limit the name is a query parameter/,
    /q the name/,
    /offset the name/,
  ],
  ['a declared id', withFields({ id: integer() }), /id id is every resource/],
  ['a field name in another style', withFields({ firstName: text() }), /firstName the name is not lower-case/],
  [
    'a redacted field that can be filtered',
    withFields({ secret: text({ redacted: true, filter: true }) }),
    /secret is redacted, and filter/,
  ],
  [
    'a redacted field that is required',
    withFields({ secret: text({ redacted: true }) }, { required: ['secret'] }),
    /secret is redacted/,
  ],
  ['no fields', { ...sound, fields: {}, required: [] }, /fields is empty/],
  [
    'a misspelt option',
    withFields({ owner_id: integer(loosely({ refrences: 'owners' })) }),
    /owner_id "refrences" is no option.*"references"/,
  ],
  [
    'an option of another kind',
    withFields({ size: number(loosely({ filter: true })) }),
    /size "filter" is no option of number/,
  ],
  [
    'a format that does not exist',
    withFields({ day: text(loosely({ format: 'day' })) }),
    /day format is "day", but it takes "date" or "timestamp"/,
  ],
  ['an option of the wrong type', withFields({ size: integer(loosely({ filter: 'yes' })) }), /size filter is "yes"/],
  ['a field that is no field', withFields({ size: 'integer' }), /size is "integer", but a field is written as/],
  ['a misspelt part', { ...sound, tabel: 'x' }, /"tabel" is no part.*"table"/],
  [
    'missing parts',
    { fields: { title: text() } },
    /name is missing/,
    /area is missing/,
    /table is missing/,
    /required is missing/,
    /create is missing/,
  ],
  [
    'parts of the wrong type',
    { ...sound, create: 'yes', table: 'My Table', required: 'title' },
    /table is "My Table"/,
    /required is "title"/,
    /create is "yes"/,
  ],
  ['a table the database keeps for itself', { ...sound, table: 'sqlite_things' }, /table is "sqlite_things"/],
  ['nothing exported', undefined, /no descriptor as its default export/],
]

const test = suite('descriptors')

test('a sound one has no fault', () => {
  assert.equal(faultsOf(sound), [])
})

for (const [what, exported, ...says] of cases) {
  test(`${what} is told`, () => {
    const faults = faultsOf(exported)
    assert.is(faults.length, says.length, faults.join('\n'))
    for (const [index, pattern] of says.entries()) {
      assert.match(faults[index] as string, pattern)
      assert.ok(faults[index]?.includes('resources/things.ts '))
    }
  })
}

test('a file name that is no path is told', () => {
  assert.match(faultsOf(sound, 'My_Things')[0] as string, /the file's name is the path/)
})

test('faults of form and of meaning are told at once', () => {
  const faults = faultsOf({
    ...sound,
    tabel: 'x',
    create: 'yes',
    required: ['titel', 'size'],
    fields: {
      title: text(loosely({ uniqe: true, filter: 1 })),
      size: 'integer',
      owner_id: integer({ references: 'owner' }),
    },
  })
  const says = [
    /"tabel"/,
    /title "uniqe"/,
    /title filter/,
    /size is "integer"/,
    /create is "yes"/,
    /required names "titel"/,
    /owner_id references/,
  ]
  assert.is(faults.length, says.length, faults.join('\n'))
  for (const [index, pattern] of says.entries()) assert.match(faults[index] as string, pattern)
})

test('faults of several files are told at once', () => {
  const candidates = [
    { file: 'resources/a.ts', path: 'a', exported: { ...sound, required: ['x'] } },
    { file: 'resources/b.ts', path: 'b', exported: { ...other, fields: {}, required: [] } },
  ]
  assert.equal(
    verify(candidates).faults.map(({ file }) => file),
    ['resources/b.ts', 'resources/a.ts'],
  )
})

test('demo rows are held against the descriptor', () => {
  const descriptor = defineResource({ ...sound, fields: { title: text(), size: integer() }, required: ['title'] })
  const problems = verifyDemo('seeds/things.json', descriptor, [
    { id: 1, title: 'a' },
    { id: 1, title: 'b', size: 'x' },
    { id: 2, titel: 'c' },
  ]).map(({ field, problem }) => `${field} ${problem}`)
  assert.is(problems.length, 4)
  assert.match(
    problems.join('\n'),
    /size row 2: is "x".*id row 2: 1 is taken.*titel row 3: is no field.*"title".*title row 3: is required/s,
  )
})

test('demo rows are held against one another', () => {
  const owners = resourceFrom('owners', other, [{ id: 1, title: 'a' }])
  const fields = { owner_id: integer({ references: 'owners' }), slug: text({ unique: ['owner_id'] }) }
  const things = resourceFrom('things', { ...sound, fields, required: [] }, [
    { id: 1, owner_id: 1, slug: 'x' },
    { id: 2, owner_id: 1, slug: 'x' },
    { id: 3, owner_id: 7, slug: 'x' },
  ])
  const problems = verifyLinks([owners, things]).map(({ file, field, problem }) => `${file} ${field} ${problem}`)
  assert.is(problems.length, 2)
  assert.match(problems[0] as string, /^seeds\/things\.json owner_id row 3: names 7/)
  assert.match(problems[1] as string, /^seeds\/things\.json slug row 2: /)
})

test('a path that is the service’s own is told', () => {
  assert.match(faultsOf(sound, 'health')[0] as string, /the path "health" is the service's own/)
})

test('loading tells the faults of files that cannot be loaded, and of demo rows without a resource', async () => {
  const { path: folder, remove } = temporaryFolder('descriptors')
  try {
    writeFileSync(join(folder, 'broken.js'), 'export default {')
    writeFileSync(join(folder, 'orphans.json'), '[]')
    await loadRegistry({ resources: folder, seeds: folder })
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, /resources\/broken\.ts: cannot be loaded: /)
    assert.match((error as Error).message, /seeds\/orphans\.json: belongs to no resource/)
  } finally {
    remove()
  }
})

test.run()
