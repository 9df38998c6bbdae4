/** `npm run check` on a copy of the project: every mistake once, with its line, and nothing else. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { root } from '../../support/root.js'
import { type ProjectCopy, projectCopy } from '../support/projectCopy.js'

const imports = "import { defineResource, integer, number, text } from 'resource-registry-engine'"
const descriptor = (name: string, fields: string) => `${imports}

export default defineResource({
  name: '${name}',
  area: 'Things',
  table: '${name.toLowerCase()}',
  fields: {
    title: text(), // "title": the /* first */ field
    ${fields}
  },
  required: ['title'],
  create: true,
})
`
const rows = (...more: string[]) => `[\n  {"id": 1, "title": "a"}${more.map((row) => `,\n  ${row}`).join('')}\n]\n`

/** The files of each mistake, and what is reported: line, column and message; nothing else is reported. */
const mistakes: [name: string, files: Record<string, string | Buffer>, ...problems: string[]][] = [
  [
    'the same field twice',
    { 'resources/twice.ts': descriptor('Twice', 'size: integer(),\n    "size": text(),') },
    'resources/twice.ts:10:5: field "size" is declared twice, first in line 9; remove one of the two',
  ],
  [
    'the same option and the same property twice',
    {
      'resources/options.ts': descriptor('Option', 'size: integer({ filter: true, filter: true }),').replace(
        'create: true',
        'create: true, create: false',
      ),
    },
    'resources/options.ts:9:35: property "filter" is declared twice, first in line 9; remove one of the two',
    'resources/options.ts:12:17: property "create" is declared twice, first in line 12; remove one of the two',
  ],
  [
    'a quote in a regular expression, a template and a comment',
    {
      'resources/signs.ts': descriptor(
        'Sign',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template.
        "made: text({ managed: () => `${'x'.replace(/[/'\"`{]/g, \"{\")}'{` }), /* ' */ size: integer({ filtr: true }),",
      ),
    },
    'resources/signs.ts:9:97: field "size": unknown option "filtr" of integer(). Did you mean "filter"?',
  ],
  [
    'a clock that is called, and a name that JavaScript reserves',
    {
      'resources/calls.ts': descriptor('Call', 'day: text({ default: today() }),\n    __proto__: text(),').replace(
        'text }',
        'text, today }',
      ),
    },
    'resources/calls.ts:9:17: field "day": default is the time of the start; write default: today, without ()',
    'resources/calls.ts:10:5: field "__proto__": the name is reserved by JavaScript; choose another',
  ],
  [
    'a pattern that loses its backslash, and a reference that is undefined',
    {
      'resources/losses.ts': descriptor(
        'Loss',
        "code: text({ maxLength: 9, pattern: '[A-Z]\\d{3}', example: 'Addd' }),\n    right: text({ maxLength: 9, pattern: '\\\\d' }),\n    other_id: integer({ references: undefined as never }),",
      ),
    },
    'resources/losses.ts:9:32: field "code": pattern has a single backslash: in a string, JavaScript reads \\d as "d"; write \\\\d',
    'resources/losses.ts:11:25: field "other_id": references is undefined, but it must be the path of a resource, such as "authors"',
  ],
  [
    'an export that does not exist',
    { 'resources/exports.ts': descriptor('Export', '').replace('integer, number', 'integr, number') },
    'resources/exports.ts:1:26: cannot be loaded: resource-registry-engine does not export "integr". Did you mean "integer"?',
  ],
  [
    'a type of another system',
    {
      'resources/types.ts': descriptor('Type', '').replace('integer, number', 'string, number'),
      'resources/calls-types.ts': descriptor('Called', 'size: string(),'),
    },
    'resources/types.ts:1:26: cannot be loaded: resource-registry-engine does not export "string"; use text()',
    'resources/calls-types.ts:9:11: cannot be loaded: "string" is not defined; use text()',
  ],
  [
    'a shared file in resources/, and one with an error that two resources import',
    {
      'resources/helper.ts': 'export const size = 1\n',
      'resources/shared/broken.ts': "export const note = 1\nthrow new Error('boom')\n",
      'resources/broken-a.ts': `import { note } from './shared/broken.js'\n${descriptor('Broken', 'note,')}`,
      'resources/broken-b.ts': `import { note } from './shared/broken.js'\n${descriptor('Other', 'note,')}`,
    },
    'resources/helper.ts: the default export is not a descriptor; write "export default defineResource({ … })", or move shared fields into resources/shared/',
    'resources/shared/broken.ts:2:7: cannot be loaded: boom',
  ],
  [
    'a function that is not imported',
    { 'resources/imports.ts': descriptor('Import', 'size: integer(),').replace('integer, number, ', '') },
    'resources/imports.ts:9:11: cannot be loaded: "integer" is not defined; import it from \'resource-registry-engine\'',
  ],
  [
    'a module that does not exist',
    { 'resources/modules.ts': descriptor('Module', '').replace('resource-registry-engine', './shared/nothing.js') },
    'resources/modules.ts:1:56: cannot be loaded: "./shared/nothing.js" does not exist',
  ],
  [
    'an error while a file is loaded',
    { 'resources/errors.ts': `${descriptor('Error', '')}\nthrow new Error('boom')\n` },
    'resources/errors.ts:15:7: cannot be loaded: boom',
  ],
  [
    'a reference to a file that cannot be loaded, and its demo rows',
    {
      'resources/missing.ts': `${imports}\nexport default txt()\n`,
      'seeds/missing.json': rows(),
      'resources/users.ts': descriptor('User', "missing_id: integer({ references: 'missing' }),"),
      'seeds/users.json': rows('{"id": 2, "title": "b", "missing_id": 1}'),
    },
    'resources/missing.ts:2:16: cannot be loaded: "txt" is not defined. Did you mean "text"?',
  ],
  [
    'a file in a subfolder, its demo rows, and a reference to it',
    {
      'resources/people/staff.ts': descriptor('Staff', ''),
      'seeds/staff.json': rows(),
      'resources/visits.ts': descriptor('Visit', "staff_id: integer({ references: 'staff' }),"),
    },
    'resources/people/: is a folder, which is not read; move its resources into resources/, and shared fields into resources/shared/',
  ],
  [
    'files that are not TypeScript',
    { 'resources/plain.js': '', 'resources/rows.json': '[]', 'resources/README.md': '' },
    'resources/plain.js: is not read; a resource file ends with .ts',
    'resources/rows.json: is not read; demo rows belong in seeds/',
  ],
  [
    'a default, an example and a managed value that reference no demo row',
    {
      'resources/defaults.ts': descriptor(
        'Default',
        "a: integer({ references: 'employees', default: 987654 }),\n    b: integer({ references: 'employees', example: 987654 }),\n    c: integer({ references: 'employees', managed: () => 987654 }),",
      ),
    },
    'resources/defaults.ts:9:43: field "a": default is 987654, but seeds/employees.json has no row with this id',
    'resources/defaults.ts:10:43: field "b": example is 987654, but seeds/employees.json has no row with this id',
    'resources/defaults.ts:11:43: field "c": managed is 987654, but seeds/employees.json has no row with this id',
  ],
  [
    'a comma too many in JSON',
    { 'resources/commas.ts': descriptor('Comma', ''), 'seeds/commas.json': rows('{"id": 2, "title": "b",}') },
    'seeds/commas.json:3:26: is not valid JSON: unexpected "}"; remove the comma before it',
  ],
  [
    'JSON that ends too early',
    { 'resources/ends.ts': descriptor('End', ''), 'seeds/ends.json': '[\n  {"id": 1},\n\n' },
    'seeds/ends.json:2:13: is not valid JSON: it ends too early',
  ],
  [
    'UTF-16',
    { 'resources/utf16.ts': descriptor('Utf', ''), 'seeds/utf16.json': Buffer.from(`\uFEFF${rows()}`, 'utf16le') },
    'seeds/utf16.json: is not UTF-8; save it with that encoding',
  ],
  [
    'byte order marks, which are ignored',
    {
      'resources/boms.ts': `\uFEFF${descriptor('Bom', 'a: text(),').replace('integer', 'int')}`,
      'resources/marks.ts': `\uFEFF${descriptor('Mark', 'a: text({ filtr: true }),')}`,
      'seeds/marks.json': `\uFEFF${rows()}`,
    },
    'resources/boms.ts:1:26: cannot be loaded: resource-registry-engine does not export "int"; use integer()',
    'resources/marks.ts:9:15: field "a": unknown option "filtr" of text(). Did you mean "filter"?',
  ],
  [
    'demo rows that are not objects, and no array',
    {
      'resources/lists.ts': descriptor('List', ''),
      'seeds/lists.json': rows('[]'),
      'resources/sets.ts': descriptor('Set', ''),
      'seeds/sets.json': '{"id": 1}',
    },
    'seeds/lists.json:3:3: row 2 must be an object, such as {"id": 1}',
    'seeds/sets.json: must be an array of objects, such as [{"id": 1}]',
  ],
  [
    'values that JSON.parse would change without a word',
    {
      'resources/values.ts': descriptor('Value', 'size: number(), count: integer(),'),
      'seeds/values.json': rows(
        '{"id": 2, "title": "b", "size": 9007199254740993}',
        '{"id": 3, "title": "c", "count": 9007199254740993}',
        '{"id": 4, "title": "d", "title": "e"}',
        '{"id": 5, "title": "f", "size": 1e300}',
      ),
    },
    'seeds/values.json:3:27: row 2: field "size": is 9007199254740993, which would be rounded: integers are exact between -9007199254740991 and 9007199254740991',
    'seeds/values.json:4:27: row 3: field "count": is 9007199254740992, but it must be an integer between -9007199254740991 and 9007199254740991',
    'seeds/values.json:5:27: row 4 has "title" twice, first in line 5; remove one of the two',
  ],
  [
    'demo rows of no resource, and of a table',
    { 'seeds/employes.json': '[]', 'seeds/leave_requests.json': '[]', 'seeds/old/leave.json': '[]' },
    'seeds/employes.json: there is no resource "employes". Did you mean "employees"?',
    'seeds/leave_requests.json: there is no resource "leave_requests"; that is a table, and its path is "leave"',
    'seeds/old/: is a folder, which is not read; move its files into seeds/',
  ],
]

interface Reported {
  readonly file: string
  readonly line: number | null
  readonly column: number | null
  readonly message: string
}
const formatLine = ({ file, line, column, message }: Reported): string =>
  `${[file, line, column].filter((part) => part !== null).join(':')}: ${message}`

/** Renames a property in the first of the demo rows. */
const misspellSeed = ({ read, write }: ProjectCopy): void =>
  write('seeds/leave.json', read('seeds/leave.json').replace('"reason"', '"reson"'))

const test = suite('check')

const emptyProject = (): ProjectCopy => {
  const project = projectCopy()
  for (const folder of ['resources', 'seeds']) {
    rmSync(join(project.path, folder), { recursive: true })
    mkdirSync(join(project.path, folder))
  }
  return project
}

test('an empty folder is one error', async () => {
  const empty = 'resources/: is empty; add a resource file, such as resources/customers.ts\n\n1 error in 1 file.\n'
  assert.equal(await emptyProject().run('npm run check'), { status: 1, output: empty })
})

test('a resource may import other files, by the name of the source or of a compiled one', async () => {
  const project = emptyProject()
  const shared = "import { text } from 'resource-registry-engine'\n\nexport const audit = { author: text() }\n"
  project.write('resources/shared/audit.ts', shared)
  const used = descriptor('Note', '...audit, ...more, ...last,')
  const named = ["'./shared/audit.js'", "'./shared/more.ts'", "'../common/last.ts'"]
  const names = ['audit', 'more', 'last']
  project.write('resources/shared/more.ts', 'export const more: Record<string, never> = {}\n')
  project.write('common/last.ts', 'export const last = {} as const\n')
  const lines = named.map((from, n) => `import { ${names[n]} } from ${from}\n`)
  project.write('resources/notes.ts', `${lines.join('')}${used}`)
  const output = '1 resource and its demo rows have no errors.\n'
  assert.equal(await project.run('npm run check'), { status: 0, output })
  assert.equal(await project.run('npm run check -- --json'), { status: 0, output: '[]\n' })
})

test('all mistakes together are reported once each, sorted by file', async () => {
  const project = projectCopy()
  for (const [, files] of mistakes) for (const [file, content] of Object.entries(files)) project.write(file, content)
  const { status, output } = await project.run('npm run check -- --json')
  assert.is(status, 1)
  const reported = (JSON.parse(output) as Reported[]).map(formatLine)
  for (const [name, , ...problems] of mistakes) {
    for (const problem of problems) assert.ok(reported.includes(problem), `${name}\n${reported.join('\n')}`)
  }
  const expected = mistakes.flatMap(([, , ...problems]) => problems)
  assert.equal([...new Set(reported)].sort(), [...new Set(expected)].sort())
  const files = reported.map((line) => line.slice(0, line.indexOf(':')))
  const sorted = files.toSorted((a, b) => a.localeCompare(b, 'en'))
  assert.equal(files, sorted)
})

test('people see the source line and a caret', async () => {
  const project = projectCopy()
  project.write('resources/carets.ts', descriptor('Caret', '\tsize: integer({ filtr: true }),'))
  misspellSeed(project)
  const { status, output } = await project.run('npm run check')
  assert.is(status, 1)
  assert.is(
    output,
    `resources/carets.ts:9:22: field "size": unknown option "filtr" of integer(). Did you mean "filter"?
        \tsize: integer({ filtr: true }),
        \t                ^^^^^

seeds/leave.json:2:140: row 1: field "reson": is not a field of this resource. Did you mean "reason"?
    …date": "2025-07-01", "days": 1, "status": "Approved", "reson": "Driving test and errands", "applied_on": "2025…
                                                           ^^^^^^^

2 errors in 2 files.
`,
  )
})

test('a start that does not load the demo rows only warns about them; one that would load them fails', async () => {
  const project = projectCopy()
  misspellSeed(project)
  const env = { DATABASE_URL: 'sqlite::memory:', PORT: '0', DEMO_DATA: 'false' }
  const started = project.start('npm start', env)
  let output = ''
  for await (const chunk of started.stdout) {
    output += chunk
    if (output.includes('Ready at')) started.kill('SIGTERM')
  }
  assert.match(output, /seeds\/leave\.json has errors, so its demo rows are not used; see npm run check\./)
  assert.match(output, /Ready at/)
  const refused = await project.run('npm start', { ...env, DEMO_DATA: 'true' })
  assert.is(refused.status, 1)
  assert.match(
    refused.output,
    /^The database :memory: cannot be used: its tables are empty, and the demo rows for them have errors; correct them, or set DEMO_DATA=false:\n {2}seeds\/leave\.json:2: row 1: field "reson": is not a field of this resource/m,
  )
})

test('a syntax error is shown with its line, and is an array for machines', async () => {
  const project = projectCopy()
  project.write(
    'resources/syntax.ts',
    descriptor('Syntax', 'size: integer(').replace("area: 'Things',", "area 'Things',"),
  )
  const people = await project.run('npm run check')
  assert.is(people.status, 1)
  assert.match(people.output, /^resources\/syntax\.ts:5:8: cannot be loaded: .+\n {6}area 'Things',\n {11}\^\n/)
  const machines = await project.run('npm run check -- --json')
  assert.is(machines.status, 1)
  const [first] = JSON.parse(machines.output) as [Reported]
  assert.equal([first.file, first.line, first.column], ['resources/syntax.ts', 5, 8])
})

test('docs/descriptors.md shows real output', async () => {
  const project = projectCopy()
  const page = readFileSync(join(root, 'docs/descriptors.md'), 'utf8')
  const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```/gms)].map(([, language, text]) => ({ language, text }))
  const [example = '', good, bad] = blocks.map(({ text = '' }) => text)
  project.write('resources/contracts.ts', example)
  project.write('seeds/contracts.json', String(blocks.find(({ language }) => language === 'json')?.text))
  const count = readdirSync(join(project.path, 'resources')).length
  assert.equal(await project.run('npm run check'), { status: 0, output: good?.replace('13', String(count)) })
  const mistaken = example.replace('unique:', 'uniqe:').replace("'reference',", "'refrence',")
  project.write('resources/contracts.ts', mistaken.replace("'employees'", "'employes'"))
  assert.equal(await project.run('npm run check'), { status: 1, output: bad })
})

test.run()
