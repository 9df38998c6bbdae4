/** `npm run new`: the files it writes, what it refuses, and that the service works with the new resources. */
import { throws } from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { demoRows, seedsText } from '../../cli/new/demoRows.js'
import { descriptorText } from '../../cli/new/descriptorText.js'
import { parseFields } from '../../cli/new/fieldArgument.js'
import { checkPath, resourceNames } from '../../cli/new/names.js'
import type { NewResource } from '../../cli/new/plan.js'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { callCommand } from '../support/callCommand.js'
import { office, startOffice } from '../support/office.js'
import { officeCopy } from '../support/officeFiles.js'
import { projectCopy } from '../support/projectCopy.js'

const test = suite('new')

/** A field of the command line, and how the descriptor declares it. */
const fields: [argument: string, declared: string][] = [
  ['title:text', 'title: text(),'],
  ['hours:number', 'hours: number(),'],
  ['due:date!,sort,range', 'due: date({ sort: true, range: true }),'],
  ['seats:integer=-3', 'seats: integer({ default: -3 }),'],
  ['price:number=1e21', 'price: number({ default: 1e21 }),'],
  ['price:decimal', 'price: decimal({ digits: 12, places: 2 }),'],
  [
    'price:decimal8.3!,sort,range=1.5',
    "price: decimal({ digits: 8, places: 3, default: '1.5', sort: true, range: true }),",
  ],
  ['units:decimal18.0=0', "units: decimal({ digits: 18, places: 0, default: '0' }),"],
  ['tag:uuid,unique', 'tag: uuid({ unique: true }),'],
  ['settings:json', 'settings: json(),'],
  [
    'settings:json={"theme":"plain","a-b":[1,null]}',
    "settings: json({ default: { theme: 'plain', 'a-b': [1, null] } }),",
  ],
  ['settings:json={}', 'settings: json({ default: {} }),'],
  ['held_on:date', 'held_on: date(),'],
  ['held_on:date=today', 'held_on: date({ default: today }),'],
  ['held_at:timestamp=now', 'held_at: timestamp({ default: now }),'],
  ['held_at:timestamp=2026-01-31T09:30:00Z', "held_at: timestamp({ default: '2026-01-31T09:30:00Z' }),"],
  ['done:boolean=false', 'done: boolean({ default: false }),'],
  ['created:now', 'created: timestamp({ managed: now }),'],
  ['made_on:today', 'made_on: date({ managed: today }),'],
  ['job_id:jobs', "job_id: integer({ references: 'jobs', filter: true }),"],
  ['job_id:jobs,unique=1', "job_id: integer({ references: 'jobs', default: 1, filter: true, unique: true }),"],
  ['parent_id:courses', "parent_id: integer({ references: 'courses', filter: true }),"],
  ['code:text!,unique', 'code: text({ unique: true }),'],
  ['kind:text,filter!', 'kind: text({ filter: true }),'],
  ['status:text=On hold, a=b: "c"', `status: text({ default: 'On hold, a=b: "c"', filter: true }),`],
  ["note:text=It's", `note: text({ default: "It's" }),`],
  ['hash:text,redacted', 'hash: text({ redacted: true }),'],
]

const resourceWith = (...given: string[]): NewResource => ({
  ...{ path: 'courses', name: 'Course', plural: undefined, area: 'People', about: undefined, table: 'courses' },
  fields: parseFields(given, office, 'courses'),
  create: true,
})

for (const [argument, declared] of fields) {
  test(`${argument} is declared as ${declared}`, () => {
    const text = descriptorText(resourceWith(argument))
    assert.ok(text.includes(`\n    ${declared}\n`), text)
  })
}

/** A field of the command line, and why it is refused. */
const refusedFields: [argument: string, message: string][] = [
  ['title', 'a field is NAME:TYPE, such as title:text.'],
  ['title:', 'a field is NAME:TYPE, such as title:text.'],
  ['a:b:text', 'a field is NAME:TYPE, such as title:text.'],
  ['Title:text', 'the name "Title" must be at most 60 lower-case letters, digits and underscores, such as from_date.'],
  ['title:txt', 'unknown type "txt". Did you mean "text"?'],
  ['title:string', 'unknown type "string"; use text.'],
  ['done:bool', 'unknown type "bool"; use boolean.'],
  ['price:numeric', 'unknown type "numeric"; write decimal12.2 for 12 digits, 2 of them after the point.'],
  ['price:decimal(8,2)', 'unknown type "decimal(8"; write decimal12.2 for 12 digits, 2 of them after the point.'],
  ['price:decimal8.2=x', 'the default is "x", but it must be a decimal as a string, such as "12.50".'],
  ['price:decimal8.2=1.505', 'the default is "1.505", but it must have at most 2 digits after the point.'],
  ['tag:uuid=x', 'the default is "x", but it must be a UUID such as "0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d".'],
  ['tag:uuid,sort', 'a uuid cannot have the option sort.'],
  ['settings:json=plain', 'the default is "plain", but it must be a JSON value of at most 64 KiB and 100 levels.'],
  ['settings:json,filter', 'a json cannot have the option filter.'],
  ['done:boolean=1', 'the default is "1", but it must be true or false.'],
  ['title:text,range', 'a text cannot have the option range.'],
  ['done:boolean,unique', 'a boolean cannot have the option unique.'],
  ['job_id:job', 'unknown type "job". Did you mean "jobs"?'],
  ['job_id:job_openings', '"job_openings" is a table; to reference its rows, write jobs.'],
  ['job_id:jobs=9999', 'the default is 9999, but there is no demo row of jobs with this id.'],
  ['code:text,uniqe', 'unknown option "uniqe". Did you mean "unique"?'],
  ['hours:number=many', 'the default is "many", but it must be a finite number.'],
  ['hours:number=1e999', 'the default is "1e999", but it must be a finite number.'],
  [
    'seats:integer=1.5',
    'the default is "1.5", but it must be an integer between -9007199254740991 and 9007199254740991.',
  ],
  [
    'held_on:date=2026-02-31',
    'the default is "2026-02-31", but it must be today or a day between "0001-01-01" and "9999-12-31".',
  ],
  [
    'held_at:timestamp=2026-01-31',
    'the default is "2026-01-31", but it must be now or a time such as "2026-03-01T09:30:00Z".',
  ],
  ['created:now=now', 'the service sets the value, so it cannot have a default.'],
  ['title:text=', 'the default is empty; leave out the "=" or write a value after it.'],
]
for (const [argument, message] of refusedFields) {
  test(`${argument} is refused: ${message}`, () => {
    const refused = { name: 'UsageError', message: `"${argument}": ${message}` }
    throws(() => parseFields([argument], office, 'courses'), refused)
  })
}

test('all wrong fields are reported at once, and a field that is given twice', () => {
  const message = /^"a:txt": [^\n]+\n"b:number": the field "b" is given twice\.\n"C:text": [^\n]+$/
  throws(() => parseFields(['a:txt', 'b:text', 'b:number', 'C:text'], office, 'courses'), { message })
})

/** A path, and why it is refused. */
const refusedPaths: [path: string, message: string][] = [
  ['Training_Courses', 'must be lower-case words joined by "-". Did you mean "training-courses"?'],
  ['../evil', 'must be lower-case words joined by "-". Did you mean "evil"?'],
  ['2-factors', 'must be lower-case words joined by "-". Did you mean "factors"?'],
  ['курсы', 'must be lower-case words joined by "-", such as training-courses'],
]
for (const [path, message] of refusedPaths) {
  test(`the path ${path} is refused: ${message}`, () => {
    throws(() => checkPath(path, office), { message: `PATH is "${path}", but it ${message}` })
  })
}

const names = {
  ...{ 'training-courses': 'Training course', companies: 'Company', addresses: 'Address', statuses: 'Status' },
  ...{ houses: 'House', branches: 'Branch', boxes: 'Box', attendance: 'Attendance', status: 'Status' },
}
for (const [path, name] of Object.entries(names)) {
  test(`the path ${path} names a ${name}`, () => {
    const isPlural = path !== 'attendance' && path !== 'status'
    assert.equal(resourceNames(path), { name, plural: isPlural ? undefined : name })
  })
}

const courseFields = 'code:text!,unique employee_id:employees!,unique parent_id:courses extra_json:text!'.split(' ')
const courseRows = () => demoRows(resourceWith(...courseFields), office, 50)

test('demo rows have unique values where a field asks for them', () => {
  const rows = courseRows()
  assert.ok(rows.length >= 12)
  for (const name of ['code', 'employee_id']) assert.is(new Set(rows.map((row) => row[name])).size, rows.length)
})

test('demo rows reference existing rows', () => {
  const employees = new Set(office.find(({ path }) => path === 'employees')?.demo.map(({ id }) => id))
  for (const row of courseRows()) assert.ok(employees.has(row['employee_id'] as number))
})

test('demo rows have JSON where the name of a field asks for it', () => {
  for (const row of courseRows()) assert.type(JSON.parse(String(row['extra_json'])), 'object')
})

test('a file of demo rows has the rows', () => {
  const rows = courseRows()
  assert.equal(JSON.parse(seedsText(rows)), rows)
})

test('there are no demo rows if a required reference has none to name', () => {
  const empty = office.map((resource) => (resource.path === 'jobs' ? { ...resource, demo: [] } : resource))
  assert.is(demoRows(resourceWith('job_id:jobs!'), empty, 12).length, 0)
  assert.is(demoRows(resourceWith('job_id:jobs'), empty, 12).length, 12)
})

// The office, whose files the command adds to.
const root = officeCopy()
const listFiles = () =>
  ['resources', 'seeds'].flatMap((name) => (existsSync(join(root, name)) ? readdirSync(join(root, name)) : []))

/** A command line, and what it prints when it is refused. */
const refusedCommands: [args: string, message: string][] = [
  ['courses', 'FIELD is missing: name at least one, such as title:text!'],
  ['jobs a:text', 'resources/jobs.ts already exists; choose another path, or change that file.'],
  [
    `${'long-'.repeat(13)}name a:text`,
    `The table "${'long_'.repeat(13)}name" would have 69 characters; name one of at most 60 with --table.`,
  ],
]
for (const [args, message] of refusedCommands) {
  test(`new ${args} is refused, and nothing is written`, async () => {
    const before = listFiles()
    assert.equal(await callCommand('new', args.split(' ')), { status: 2, stdout: '', stderr: `${message}\n` })
    assert.equal(listFiles(), before)
  })
}

test('what the descriptors forbid is refused as a start would refuse it, and nothing is written', async () => {
  const before = listFiles()
  const args = 'health id:text limit:integer hash:text!,redacted --table employees --name Employee'
  const { status, stderr } = await callCommand('new', args.split(' '))
  assert.is(status, 1)
  assert.match(stderr, /^Nothing was written\. The resources have \d errors:\n/)
  for (const part of ['"health" is reserved', '"id"', '"limit"', '"hash"', 'table "employees"', 'name "Employee"']) {
    assert.ok(stderr.includes(part), stderr)
  }
  assert.equal(listFiles(), before)
})

test('a file that exists is never overwritten', async () => {
  const seeds = join(root, 'seeds', 'gadgets.json')
  writeFileSync(seeds, '[]\n')
  const { status, stderr } = await callCommand('new', ['gadgets', 'name:text'])
  assert.is(status, 1)
  assert.match(stderr, /seeds\/gadgets\.json/)
  assert.is(readFileSync(seeds, 'utf8'), '[]\n')
  assert.not.ok(listFiles().includes('gadgets.ts'))
  rmSync(seeds)
})

const name60 = (letter: string) => letter.repeat(60)
const odd = [
  'training-courses title:text! hours:number organization_id:organizations status:text=Planned --create',
  'memberships employee_id:employees! department_id:departments!',
  'badges code:text!,unique serial:integer!,unique employee_id:employees,unique --create',
  `kitchen-sinks a:text! b:integer! c:number! d:date e:timestamp=now f:date=today g:now h:today i:text,redacted is_on:boolean=true done:boolean status:text=Open extra_json:text parent_id:kitchen-sinks label:text,unique url:text,filter --create --about`,
  `price-lists price:decimal!,sort,range cost:decimal18.4,unique weight:decimal4.4! tag:uuid!,unique settings:json!={"theme":["plain"]} notes:json --create`,
  'lockers employee_id:employees!,unique --create',
  'tree-nodes parent_id:tree-nodes,unique name:text! --create --update --delete',
  'equipment name:text! --rows 0',
  `${name60('p')} ${name60('x')}:employees! ${name60('y')}:text!,unique ${name60('z')}:text!,filter=日本語日本語日本語日本語日本語日本語 --create`,
]

test('odd resources are valid, and the service that has them accepts a create of each', async () => {
  const project = projectCopy()
  for (const args of odd) {
    const about = `It's a "sink", described by a sentence ${'that is very long '.repeat(5)}`
    const given = [...args.split(' '), ...(args.endsWith('--about') ? [about] : [])]
    const { status, stdout, stderr } = await callCommand('new', given)
    assert.is(status, 0, stderr)
    const [, path = ''] = /^Wrote resources\/(\S+)\.ts/.exec(stdout) ?? []
    for (const file of [`resources/${path}.ts`, `seeds/${path}.json`].filter((name) => existsSync(join(root, name)))) {
      project.write(file, readFileSync(join(root, file)))
      rmSync(join(root, file))
    }
  }
  // The copy is not a repository.
  const lint = await project.run('biome check --vcs-enabled=false --error-on-warnings resources')
  assert.is(lint.status, 0, lint.output)
  // The descriptors and what they import, not the whole project.
  project.write('resources/tsconfig.json', '{ "extends": "../tsconfig.json", "include": ["."] }')
  const types = await project.run('tsc -p resources --noEmit')
  assert.is(types.status, 0, types.output)
  rmSync(join(project.path, 'resources', 'tsconfig.json'))

  const served = await loadRegistry(project.path)
  const { get, create } = await startOffice({ registry: served })
  const openapi = (await get('/openapi.json')).body
  for (const path of odd.map((args) => args.split(' ')[0] as string)) {
    const { meta, data } = (await get(`/v1/${path}`)).body
    assert.is(meta.total, path === 'equipment' ? 0 : 12, path)
    assert.is((await get(`/v1/${path}?q=no%20such%20text`)).body.meta.total, 0, path)
    assert.is(data.length, meta.total, path)
    const { post } = openapi.paths[`/v1/${path}`]
    const verbs = Object.keys(openapi.paths[`/v1/${path}/{item_id}`]).filter((verb) => verb !== 'get')
    assert.equal(verbs, path === 'tree-nodes' ? ['patch', 'delete'] : [], path)
    if (!post) continue
    const created = await create(path, post.requestBody.content['application/json'].example)
    assert.is(created.status, 201, created.text)
  }
})

test.run()
