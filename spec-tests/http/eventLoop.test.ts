/** No body holds up the event loop for long: 16 MiB that are made to take long, and valid imports and batches of 16 MiB. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startProcess } from '../../support/process.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { freshUrl } from '../support/database.js'
import { clientOf, sessionOf, token } from '../support/service.js'

/**
 * The longest turn of the event loop. A longer one has to come three times, and on a slow machine it may take as long as parsing an object of
 * 60,000 members eight times: 35 ms each on a machine whose longest turns are 210 ms.
 */
const maxTurnMs = 300
const maxParses = 8
const maxAttempts = 3

const project = temporaryProject()
mkdirSync(join(project, 'resources'))
writeFileSync(
  join(project, 'product.ts'),
  `export const product = { name: 'Loop', about: 'A service.', version: '1.0.0', batch: true }\n`,
)
writeFileSync(
  join(project, 'resources/notes.ts'),
  `import { boolean, date, decimal, defineResource, integer, json, text, uuid } from 'resource-registry-engine'
export default defineResource({
  name: 'Note',
  area: 'Notes',
  about: 'A note.',
  table: 'notes',
  fields: {
    code: text({ unique: true, maxLength: 20, pattern: '[a-z0-9-]+' }),
    body: text(),
    age: integer({ min: 0 }),
    done: boolean(),
    born: date(),
    fee: decimal({ digits: 12, places: 2 }),
    tag: uuid(),
    extra: json(),
    more: json(),
  },
  required: [],
  create: true,
  update: true,
  import: true,
})
`,
)

writeFileSync(
  join(project, 'resources/wide.ts'),
  `import { defineResource, json, text } from 'resource-registry-engine'
const fields = (count, name, kind) => Object.fromEntries(Array.from({ length: count }, (_, n) => [name + n, kind()]))
export default defineResource({
  name: 'Wide',
  plural: 'Wide',
  area: 'Notes',
  about: 'A row of many fields.',
  table: 'wide',
  fields: { ...fields(100, 'a_long_name_of_a_field_', text), ...fields(16, 'json_', json) },
  required: [],
  create: true,
})
`,
)

/** Prints the turns that are too long on this machine. Measured as the time of the processor, which other programs change least. */
const meter = `
import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) {
  const used = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'utf8').split(' ')[0]) / 1e6
  const object = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => ['m' + n, 1])))
  let before = used()
  setInterval(() => {
    const now = used()
    const turn = now - before
    if (turn >= ${maxTurnMs}) {
      JSON.parse(object)
      const parse = used() - now
      if (turn >= ${maxParses} * parse)
        console.log('turn of ' + Math.round(turn) + ' ms, a parse takes ' + Math.round(parse) + ' ms')
    }
    before = used()
  }, 5).unref()
}`
// Only Linux tells how long a thread has run.
const isMeasured = existsSync('/proc/self/schedstat')
const running = await startProcess(
  {
    API_TOKEN: token,
    DATABASE_URL: await freshUrl(),
    ...(isMeasured && { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(meter)}` }),
  },
  { project },
)
const { send } = clientOf(running.address)

const mebibyte = 1024 * 1024
const fill = (unit: string, bytes = 16 * mebibyte - 64): string => unit.repeat(Math.floor(bytes / unit.length))
const list = (length: number, item: (n: number) => string, separator = ','): string =>
  Array.from({ length }, (_, n) => item(n)).join(separator)
const members = (count: number, from = 'm'): string => list(count, (n) => `"${from}${n}":1`)
const row = (n: number, length: number, code = 'c') =>
  `{"code":"${code}-${n}","age":${n},"extra":{"a":[${n}]},"body":"${fill('x', length)}"}`
const operations = (...items: string[]): string => `{"operations":[${items.join()}]}`
const create = (body: string, more = ''): string => `{"method":"POST","path":"/v1/notes",${more}"body":${body}}`

const [csv, ndjson, json] = ['text/csv', 'application/x-ndjson', 'application/json'] as const
type Sent = readonly [
  what: string,
  type: string,
  body: string | Buffer | ((attempt: number) => string),
  status: number,
  path?: string,
]
const importPath = '/api/v1/notes/import'
const [batchPath, createPath, widePath] = ['/api/v1/batch', '/api/v1/notes', '/api/v1/wide']

const bodies: readonly Sent[] = [
  ...['\n', ' \r\n', '\r\n', '\r', '\t\n', ' '].map(
    (blank): Sent => [`NDJSON of ${JSON.stringify(blank)}`, ndjson, fill(blank), 201],
  ),
  ['NDJSON of line feeds after a byte order mark', ndjson, `\uFEFF${fill('\n', 15 * mebibyte)}`, 201],
  ['NDJSON with a byte that is not UTF-8 after its lines', ndjson, Buffer.from(`${fill('\n')}\xff`, 'latin1'), 422],
  ['NDJSON of millions of rows', ndjson, fill('{}\n'), 413],
  ['NDJSON of one line', ndjson, `{"body":"${fill('a')}"}`, 422],
  ['NDJSON of brackets', ndjson, fill('['), 422],
  ['NDJSON rows of many members', ndjson, list(15, () => `{${members(60_000)}}`, '\n'), 422],
  ['CSV of line feeds', csv, `body\n${fill('\n')}`, 201],
  ['CSV of line ends', csv, `body\n${fill('\r\n')}`, 201],
  ['CSV with a byte that is not UTF-8 after its lines', csv, Buffer.from(`${fill('\n')}\xff`, 'latin1'), 422],
  ['CSV of carriage returns', csv, fill('\r'), 422],
  ['CSV of one name', csv, fill('a'), 422],
  ['CSV of one cell', csv, `body\n${fill('a')}`, 422],
  ['CSV of commas', csv, `body\n${fill(',')}`, 422],
  ['CSV of empty rows', csv, `body,code\n${fill(',\n')}`, 413],
  ['CSV of quotes', csv, `body\n${fill('"')}`, 422],
  ['CSV of cells of quotes', csv, `body\n${list(8, () => `"${fill('""', 1.9 * mebibyte)}"`, '\n')}`, 422],
  ['CSV of cells of line feeds', csv, `body\n${list(8, () => `"${fill('\n', 1.9 * mebibyte)}"`, '\n')}`, 422],
  [
    'CSV in which everything is wrong',
    csv,
    `code,age,done,born,fee,tag\n${list(10_000, () => 'X Y,-1,maybe,today,1.2345,none', '\n')}`,
    422,
  ],
  ['JSON of brackets', json, fill('['), 422],
  ['JSON of empty arrays', json, `[${fill('[],')}[]]`, 413],
  ['JSON of white space', json, `[${fill(' ')}]`, 201],
  ['JSON of escaped quotes', json, `["${fill('\\"')}"]`, 422],
  ['JSON of escaped quotes without an end', json, `["${fill('\\"')}`, 422],
  ['JSON of an object of a million members', json, `[{${members(1_000_000)}}]`, 422],
  ['JSON of 10,000 rows', json, (attempt) => `[${list(10_000, (n) => row(n, 1_500, 'cde'[attempt]))}]`, 201],
  ['JSON of the same rows, matched', json, `[${list(10_000, (n) => row(n, 1_501))}]`, 201, `${importPath}?match=code`],
  [
    'JSON of rows whose keys are wrong',
    json,
    `[${list(9_000, () => `{"code":"${fill('x', 1_700)}"}`)}]`,
    422,
    `${importPath}?match=code`,
  ],
  [
    'a batch of 1,000 creates',
    json,
    operations(list(1_000, () => create(`{"body":"${fill('x', 16_000)}"}`))),
    200,
    batchPath,
  ],
  [
    'a batch of large creates',
    json,
    operations(list(15, () => create(`{"body":"${fill('x', mebibyte - 200)}"}`))),
    200,
    batchPath,
  ],
  [
    'a batch whose operations have many members',
    json,
    operations(list(15, () => create('{}', `${members(60_000, 'metho')},`))),
    422,
    batchPath,
  ],
  ['a batch of brackets', json, `{"operations":${fill('[')}`, 422, batchPath],
  ['a batch of empty objects', json, operations(`${fill('{},')}{}`), 422, batchPath],
  ['a create of many members', json, `{${members(80_000)}}`, 422, createPath],
  ['a create of brackets', json, fill('[', mebibyte), 422, createPath],
  ['a create with a megabyte of digits', json, `{"age":${fill('9', mebibyte - 64)}}`, 422, createPath],
  [
    'a create of names that are nearly those of fields',
    json,
    `{${members(1_000, 'a_long_name_of_a_fields_')}}`,
    422,
    widePath,
  ],
  ['a create of half a million values', json, `{"json_0":[${fill('1,', mebibyte - 64)}1]}`, 422, widePath],
]

/** A form with a part for each value; the file is the part that has another name. */
const multipart = (parts: Readonly<Record<string, string>>): string =>
  `${Object.entries(parts)
    .map(
      ([name, value]) =>
        `--x\r\ncontent-disposition: form-data; name="${name}"${name === 'file' ? '; filename="f"' : ''}\r\n\r\n${value}\r\n`,
    )
    .join('')}--x--\r\n`
const form = 'multipart/form-data; boundary=x'
const [importForm, createForm] = ['/explore/notes/import', '/explore/notes/new']
const wrong = `code,age,done,born,fee,tag\n${list(10_000, () => 'X Y,-1,maybe,today,1.2345,none', '\n')}`

const forms: readonly Sent[] = [
  ...[
    ['file', 'a file'],
    ['text', 'pasted text'],
  ].flatMap(([name = '', where]): Sent[] => [
    [`${where} of line feeds`, form, multipart({ [name]: `body\n${fill('\n')}` }), 200, importForm],
    [`${where} of one cell`, form, multipart({ [name]: `body\n${fill('a')}` }), 422, importForm],
    [`${where} of quotes`, form, multipart({ [name]: `body\n${fill('"')}` }), 422, importForm],
    [`${where} in which everything is wrong`, form, multipart({ [name]: wrong }), 422, importForm],
    [`${where} of brackets`, form, multipart({ [name]: fill('[') }), 422, importForm],
    [
      `${where} of 10,000 rows`,
      form,
      multipart({ [name]: `[${list(10_000, (n) => row(n, 1_500, 'f'))}]` }),
      200,
      importForm,
    ],
  ]),
  [
    'a form of one long name',
    form,
    `--x\r\ncontent-disposition: form-data; name="${fill('a')}"\r\n\r\n\r\n--x--\r\n`,
    413,
    importForm,
  ],
  [
    'a form of spaces in a header',
    form,
    `--x\r\ncontent-disposition: form-data;${fill(' ')}\r\n\r\n\r\n--x--\r\n`,
    422,
    importForm,
  ],
  ['a form of line ends', form, `--x\r\n${fill('\r\n')}`, 422, importForm],
  ['a form of delimiters', form, fill('--x\r\n'), 422, importForm],
  ['a create of a long text', form, multipart({ body: fill('<', mebibyte - 400), age: 'x' }), 422, createForm],
  ['a create of more than a row may have', form, multipart({ body: fill('<', 4 * mebibyte - 200) }), 413, createForm],
  ['a create of a JSON of brackets', form, multipart({ extra: fill('[', mebibyte - 200) }), 422, createForm],
  ['a create of digits', form, multipart({ age: fill('9', mebibyte - 200), fee: '1' }), 422, createForm],
  [
    'an edit of digits',
    form,
    multipart({ age: fill('1', mebibyte - 400), 'form.tag': 'x', 'form.opened': '{"age":"5"}' }),
    412,
    '/explore/notes/1/edit',
  ],
  [
    'a create that opened many values',
    form,
    multipart({ age: 'x', 'form.opened': `[${fill('{},', 3 * mebibyte)}1]` }),
    422,
    createForm,
  ],
  [
    'an import that leaves out a long name',
    form,
    multipart({ text: 'code\na\n', ignore: fill('‹', 4 * mebibyte) }),
    413,
    importForm,
  ],
  [
    'a change of many rows',
    form,
    multipart({ 'form.rows': `[${fill('["",""],', 3 * mebibyte)}1]`, body: 'x' }),
    422,
    '/explore/notes/edit-many?field=body',
  ],
  [
    'a form with a long boundary',
    `multipart/form-data; boundary=${'a'.repeat(8000)}`,
    `--${'a'.repeat(8000)}\r\n\r\n${`\r\n--${'a'.repeat(7995)}b`.repeat(8)}${fill('a', mebibyte / 2)}`,
    422,
    createForm,
  ],
  ['a urlencoded create of ampersands', 'application/x-www-form-urlencoded', fill('&', mebibyte), 422, createForm],
  [
    'a urlencoded create of escapes',
    'application/x-www-form-urlencoded',
    `body=${fill('%3C', mebibyte - 200)}`,
    303,
    createForm,
  ],
]

const test = suite('event loop')
const session = { cookie: await sessionOf(running.address), origin: running.address, accept: 'text/html' }

for (const [what, type, body, status, path = importPath] of [...bodies, ...forms]) {
  test(what, async () => {
    let turns: string[] = []
    for (let attempt = 0; attempt === 0 || (attempt < maxAttempts && turns.length > 0); attempt++) {
      const printed = running.output().length
      const sent = gzipSync(typeof body === 'function' ? body(attempt) : body, { level: 1 })
      const caller = path.startsWith('/explore') ? session : { authorization: `Bearer ${token}` }
      const headers = { ...caller, 'content-type': type, 'content-encoding': 'gzip' }
      const response = await send(path, { method: 'POST', headers, body: sent })
      assert.is(response.status, status, response.text.slice(0, 300))
      // The turn that ends with the response is measured after it.
      await delay(50)
      turns =
        running
          .output()
          .slice(printed)
          .match(/turn of .*/g) ?? []
    }
    assert.equal(turns, [], 'turns of the event loop that are too long')
  })
}

test.after(() => void running.child.kill())
test.run()
