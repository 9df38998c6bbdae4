/** Hooks: every way of writing runs them, in the transaction of the write; what they get, refuse and change. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { OwnHook } from '../../engine/descriptor/hook.js'
import { loadHooks } from '../../engine/descriptor/hookFiles.js'
import {
  ApiError,
  boolean,
  defineHook,
  defineOperation,
  defineResource,
  integer,
  text,
  z,
} from '../../engine/descriptor/index.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callersNamed } from '../support/callers.js'
import { hooksNamed, operationsNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, clientOf, postForm, sessionOf, startService, token } from '../support/service.js'

const open = { create: true, update: true, delete: true, import: true } as const
const loans = defineResource({
  name: 'Loan',
  area: 'Library',
  table: 'loans',
  fields: {
    code: text({ unique: true }),
    work_id: integer({ filter: true }),
    person: text(),
    note: text(),
    returned: boolean({ filter: true, default: false }),
  },
  required: ['work_id', 'returned'],
  access: { read: 'public', create: 'clerk', update: 'clerk', delete: 'clerk' },
  ...open,
})
/** How many loans a work has: the hooks alone write it. */
const tallies = defineResource({
  name: 'Tally',
  area: 'Library',
  table: 'tallies',
  id: 'text',
  fields: { lent: integer({ min: 0, max: 3 }) },
  required: ['lent'],
  create: false,
})
const lines = defineResource({
  name: 'Line',
  area: 'Library',
  table: 'lines',
  fields: {
    loan_id: integer({ references: 'loans', onDelete: 'cascade', filter: true }),
    other_id: integer({ references: 'loans', onDelete: 'set null', filter: true }),
  },
  required: [],
  ...open,
})
/** The hook of a link creates the next one. */
const links = defineResource({
  name: 'Link',
  area: 'Library',
  table: 'links',
  fields: { left: integer(), group: integer({ filter: true }) },
  required: ['left'],
  ...open,
})
const registry = registryFrom({ loans, tallies, lines, links })

type HookContext = Parameters<OwnHook<typeof loans>['handle']>[0]
type Script = (context: HookContext) => unknown

/** What has run, as `file operation id`. */
let calls: string[] = []
/** What the hooks of loans do in a test. */
let script: Record<'first' | 'second', Script | undefined> = { first: undefined, second: undefined }

const on = ['create', 'update', 'delete'] as const
const loanHook = (name: 'first' | 'second') =>
  defineHook({
    resource: loans,
    on,
    async handle(context) {
      const { operation, row, previous } = context
      calls.push(`${name} ${operation} ${(row ?? previous)?.id}`)
      await script[name]?.(context)
    },
  })
const hooks = hooksNamed({
  first: loanHook('first'),
  line: defineHook({
    resource: lines,
    on,
    handle({ operation, row, previous }) {
      calls.push(`line ${operation} ${(row ?? previous)?.id}`)
    },
  }),
  link: defineHook({
    resource: links,
    on: ['create'],
    async handle({ row, asService }) {
      if (row && row.left > 0) await asService.of(links).create({ left: row.left - 1, group: row.group })
    },
  }),
  second: loanHook('second'),
  tally: defineHook({
    resource: tallies,
    on: ['update'],
    handle({ row }) {
      calls.push(`tally ${row?.lent}`)
    },
  }),
})
const operations = operationsNamed({
  'lend-alone': defineOperation({
    method: 'POST',
    path: '/v1/lend-alone',
    about: 'Lends a work with all rights, by itself.',
    access: 'signed-in',
    transaction: false,
    handle: ({ asService }) => asService.of(loans).create({ work_id: 1, returned: false } as never),
  }),
  lend: defineOperation({
    method: 'POST',
    path: '/v1/lend',
    about: 'Lends a work, and notes it.',
    access: 'clerk',
    body: z.object({ work_id: z.int(), mayFail: z.boolean().default(false) }),
    async handle({ body, of }) {
      const work = () => of(loans).create({ work_id: body.work_id, person: 'op', returned: false })
      if (!body.mayFail) return work()
      return work().catch((error) => ({ caught: error.code }))
    },
  }),
})
const logged: string[] = []
const service = await startService({
  registry,
  operations,
  hooks,
  batch: true,
  explorer: true,
  credentials: callersNamed({ clerk: { roles: ['clerk'] }, guest: { roles: [] } }),
  logger: pino({}, { write: (line) => logged.push(line) }),
})
// The refusals of hooks are not in the documents.
const { send } = clientOf(service.address)
const request = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  send(`/api/v1/${path}`, {
    method,
    headers: { ...authorized, authorization: 'Bearer clerk', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const total = async (path: string): Promise<number> => (await request('GET', `${path}?limit=1`)).body.meta.total
const lent = async (work: number): Promise<number | undefined> => (await request('GET', `tallies/${work}`)).body.lent
const lend = async (body: object): Promise<number> => {
  const response = await request('POST', 'loans', body)
  assert.is(response.status, 201, response.text)
  return response.body.id
}
/** Runs some requests with hooks; returns what has run. */
const ran = async (scripts: Partial<typeof script>, work: () => Promise<unknown>): Promise<string[]> => {
  calls = []
  script = { first: undefined, second: undefined, ...scripts }
  try {
    await work()
  } finally {
    script = { first: undefined, second: undefined }
  }
  // On PostgreSQL a write may run again.
  return calls.filter((call, n) => call !== calls[n - 2])
}
const refuse: Script = () => {
  throw new ApiError(409, 'taken', 'This work is lent already.', { by: 'hook' })
}
/** Counts the loans that are not returned. */
const countLoans: Script = async ({ row, previous, asService }) => {
  const add = async (work: number, by: number) => {
    const tally = await asService.of(tallies).get(String(work))
    if ((tally?.lent ?? 0) + by > 3) throw new ApiError(409, 'taken', 'There are only three.')
    if (tally) await asService.of(tallies).update(tally.id, { lent: tally.lent + by })
    else await asService.of(tallies).create({ id: String(work), lent: by })
  }
  if (previous && !previous.returned) await add(previous.work_id, -1)
  if (row && !row.returned) await add(row.work_id, 1)
}
const contexts: Pick<HookContext, 'operation' | 'row' | 'previous'>[] = []
const record: Script = ({ operation, row, previous }) => {
  contexts.push({ operation, row, previous })
}

const test = suite('hooks')

test('a create, an update and a delete run the hooks in order, with the rows before and after', async () => {
  let id = 0
  contexts.length = 0
  const got = await ran({ first: record }, async () => {
    id = await lend({ work_id: 1 })
    assert.is((await request('PATCH', `loans/${id}`, { person: 'Ana' })).status, 200)
    assert.is((await request('DELETE', `loans/${id}`)).status, 204)
  })
  assert.equal(
    got,
    ['create', 'update', 'delete'].flatMap((verb) => [`first ${verb} ${id}`, `second ${verb} ${id}`]),
  )
  const [create, update, remove] = contexts
  const before = { id, code: null, work_id: 1, person: null, note: null, returned: false }
  const after = { ...before, person: 'Ana' }
  assert.equal(create, { operation: 'create', row: before, previous: null })
  assert.equal(update, { operation: 'update', row: after, previous: before })
  assert.equal(remove, { operation: 'delete', row: null, previous: after })
})

test('an update that changes nothing, and a write that is refused, run none', async () => {
  const id = await lend({ work_id: 1, person: 'Ana' })
  const got = await ran({}, async () => {
    assert.is((await request('PATCH', `loans/${id}`, { person: 'Ana' })).status, 200)
    assert.is((await request('PATCH', `loans/${id}`, {})).status, 200)
    assert.is((await request('PATCH', `loans/${id}`, { work_id: 'x' })).status, 422)
    assert.is((await request('PATCH', `loans/${id}`, { person: 'Bo' }, { 'if-match': '"x"' })).status, 412)
    assert.is((await request('PATCH', 'loans/999999', { person: 'Bo' })).status, 404)
    assert.is((await request('POST', 'loans', {})).status, 422)
    assert.is((await request('DELETE', `loans/${id}`, undefined, { authorization: 'Bearer no' })).status, 401)
  })
  assert.equal(got, [])
})

test('each write of a batch runs them, and one refusal undoes all', async () => {
  const id = await lend({ work_id: 1 })
  const gone = await lend({ work_id: 1 })
  const batch = {
    operations: [
      { method: 'POST', path: '/v1/loans', body: { work_id: 2 }, as: 'new' },
      { method: 'PATCH', path: `/v1/loans/${id}`, body: { person: 'Ana' } },
      { method: 'DELETE', path: `/v1/loans/${gone}` },
    ],
  }
  const before = await total('loans')
  const onDelete: Script = (context) => context.operation === 'delete' && refuse(context)
  const refused = await ran({ second: onDelete }, async () => {
    const { status, body } = await request('POST', 'batch', batch)
    assert.equal([status, body.error.code], [409, 'taken'])
  })
  assert.is(refused.at(-1), `second delete ${gone}`)
  assert.is(await total('loans'), before)
  assert.is((await request('GET', `loans/${id}`)).body.person, null)
  const got = await ran({}, async () => assert.is((await request('POST', 'batch', batch)).status, 200))
  // In which order the rows come is not promised.
  assert.equal(
    got.map((call) => call.replace(/\d+$/, '')).sort(),
    ['first', 'second'].flatMap((name) => ['create', 'delete', 'update'].map((verb) => `${name} ${verb} `)),
  )
})

/** A loan whose note says so returns or deletes another one. */
const changeOther: Script = async ({ row, previous, asService }) => {
  const [, verb, other = ''] = /^(\w+) (\d+)$/.exec(row?.note ?? '') ?? []
  if (row?.note === previous?.note) return
  if (verb === 'return') await asService.of(loans).update(other, { returned: true })
  if (verb === 'delete') await asService.of(loans).delete(other)
}
for (const verb of ['return', 'delete'])
  for (const order of ['before', 'after'])
    test(`in a batch, a row that is changed ${order} one whose hook will ${verb} it has each change seen once`, async () => {
      const work = 200 + (await total('loans'))
      await ran({ first: countLoans, second: changeOther }, async () => {
        const [id, other] = [await lend({ work_id: work }), await lend({ work_id: work })]
        assert.is(await lent(work), 2)
        const writes = [
          { method: 'PATCH', path: `/v1/loans/${id}`, body: { note: `${verb} ${other}` } },
          { method: 'PATCH', path: `/v1/loans/${other}`, body: { person: 'Ana' } },
        ]
        const operations = order === 'after' ? writes : writes.reverse()
        const { status, text: sent } = await request('POST', 'batch', { operations })
        assert.is(status, 200, sent)
      })
      assert.is(await lent(work), 1)
    })

test('in an import, a row that the hook of an earlier row changes has each change seen once', async () => {
  await ran({ first: countLoans, second: changeOther }, async () => {
    await lend({ work_id: 8, code: 'I1' })
    const other = await lend({ work_id: 8, code: 'I2' })
    const rows = [
      { code: 'I1', note: `return ${other}` },
      { code: 'I2', person: 'Ana' },
    ]
    assert.is((await request('POST', 'loans/import?match=code', rows)).status, 201)
  })
  assert.is(await lent(8), 1)
})

test('each row of an import that changes runs them; a dry run undoes everything', async () => {
  let [id, same] = [0, 0]
  await ran({ first: countLoans }, async () => {
    id = await lend({ work_id: 7, code: 'L1', person: 'Ana' })
    same = await lend({ work_id: 7, code: 'L2', person: 'Bo' })
  })
  const rows = [
    { code: 'L1', person: 'Cy' },
    { code: 'L2', person: 'Bo' },
    { code: 'L3', work_id: 7, person: 'Di' },
  ]
  const importRows = (query: string) => request('POST', `loans/import?match=code${query}`, JSON.stringify(rows))
  const before = await total('loans')
  const dry = await ran({ first: countLoans }, async () => {
    const { status, body } = await importRows('&dryRun=true')
    assert.equal([status, body.created, body.updated, body.unchanged], [200, 1, 1, 1])
  })
  assert.ok(dry.length >= 4)
  assert.equal([await total('loans'), await lent(7)], [before, 2])
  const dryRefused = await request('GET', `loans/${id}`)
  assert.is(dryRefused.body.person, 'Ana')
  await ran({ first: refuse }, async () => {
    assert.is((await importRows('&dryRun=true')).status, 409)
    assert.is((await importRows('')).status, 409)
  })
  assert.is(await total('loans'), before)
  const got = await ran({}, async () => assert.is((await importRows('')).status, 201))
  assert.ok(got.includes(`first update ${id}`) && got.includes(`second update ${id}`))
  assert.not.ok(got.some((call) => call.endsWith(` ${same}`)))
  assert.is(got.filter((call) => call.includes(' create ')).length, 2)
})

test('an operation runs them, and may go on when one refuses', async () => {
  const got = await ran({}, async () => assert.is((await request('POST', 'lend', { work_id: 1 })).status, 200))
  assert.equal(got.length, 2)
  const before = await total('loans')
  await ran({ first: refuse }, async () => {
    const refused = await request('POST', 'lend', { work_id: 1 })
    assert.equal([refused.status, refused.body.error.code], [409, 'taken'])
    const caught = await request('POST', 'lend', { work_id: 1, mayFail: true })
    assert.equal([caught.status, caught.body], [200, { caught: 'taken' }])
  })
  assert.is(await total('loans'), before)
})

test('a form of the explorer runs them, and shows what one refuses', async () => {
  const cookie = await sessionOf(service.address, token)
  const before = await total('loans')
  const form = () => postForm(service, '/explore/loans/new', { work_id: '5', person: 'Form' }, { cookie })
  await ran({ first: refuse }, async () => {
    const { status, text: page } = await form()
    assert.is(status, 409)
    assert.match(page, /This work is lent already\./)
  })
  assert.is(await total('loans'), before)
  const got = await ran({}, async () => assert.is((await form()).status, 303))
  assert.is(got.length, 2)
})

test('a refusal is the response, and nothing is stored', async () => {
  let id = 0
  await ran({ first: countLoans }, async () => {
    id = await lend({ work_id: 42 })
  })
  const before = await total('loans')
  const write: Script = async (context) => {
    await countLoans(context)
    refuse(context)
  }
  await ran({ first: write }, async () => {
    const created = await request('POST', 'loans', { work_id: 41 })
    assert.equal(
      [created.status, created.body],
      [409, { error: { code: 'taken', message: 'This work is lent already.', details: { by: 'hook' } } }],
    )
    assert.is((await request('PATCH', `loans/${id}`, { work_id: 41 })).status, 409)
    assert.is((await request('DELETE', `loans/${id}`)).status, 409)
  })
  assert.equal([await total('loans'), await lent(41)], [before, undefined])
  assert.is((await request('GET', `loans/${id}`)).body.work_id, 42)
})

test('an error of a hook is 500 without its message, is logged, and stores nothing', async () => {
  const before = await total('loans')
  await ran({ first: () => Promise.reject(new Error('a secret of the code')) }, async () => {
    const response = await request('POST', 'loans', { work_id: 1 })
    assert.is(response.status, 500)
    assert.not.match(response.text, /secret/)
    await delay(10)
    assert.ok(logged.some((line) => line.includes('a secret of the code')))
  })
  assert.is(await total('loans'), before)
})

test('what a hook writes to its own row is in the response and runs no hook again', async () => {
  const own: Script = async ({ row, of }) => {
    if (row) await of(loans).update(row.id, { note: `noted ${row.person}` })
  }
  let id = 0
  const got = await ran({ first: own }, async () => {
    const created = await request('POST', 'loans', { work_id: 1, person: 'Ana' })
    assert.equal([created.status, created.body.note], [201, 'noted Ana'])
    id = created.body.id
    const updated = await request('PATCH', `loans/${id}`, { person: 'Bo' })
    assert.equal([updated.status, updated.body.note], [200, 'noted Bo'])
    const row = await request('GET', `loans/${id}`)
    assert.equal([row.body, row.headers.etag], [updated.body, updated.headers.etag])
  })
  assert.equal(
    got,
    ['create', 'update'].flatMap((verb) => [`first ${verb} ${id}`, `second ${verb} ${id}`]),
  )
})

test('a later hook sees what an earlier one has written to the row', async () => {
  const seen: unknown[] = []
  const first: Script = async ({ row, of }) => row && of(loans).update(row.id, { note: 'first' })
  const second: Script = async ({ row, of }) => {
    seen.push((await of(loans).get(row?.id ?? 0))?.note)
  }
  await ran({ first, second }, () => lend({ work_id: 1 }))
  assert.is(seen.at(-1), 'first')
})

test('what a hook writes to other rows runs their hooks, in the same transaction', async () => {
  await ran({ first: countLoans }, () => lend({ work_id: 51 }))
  const got = await ran({ first: countLoans }, () => lend({ work_id: 51 }))
  assert.ok(got.includes('tally 2'), String(got))
  assert.is(await lent(51), 2)
})

test('hooks have the rights of the caller, and those of the service', async () => {
  const asCaller: Script = ({ of }) => of(tallies).create({ id: 'x', lent: 1 } as never)
  await ran({ first: asCaller }, async () => assert.is((await request('POST', 'loans', { work_id: 1 })).status, 403))
  const callers: unknown[] = []
  const name: Script = ({ caller }) => {
    callers.push(caller.name, caller.roles)
  }
  await ran({ first: name }, () => lend({ work_id: 1 }))
  assert.equal(callers.slice(0, 2), ['clerk', ['clerk']])
})

test('eight hooks that cause each other are allowed, nine are not', async () => {
  const allowed = await request('POST', 'links', { left: 7, group: 1 }, { authorization: `Bearer ${token}` })
  assert.is(allowed.status, 201, allowed.text)
  assert.is(await total('links'), 8)
  const refused = await request('POST', 'links', { left: 8, group: 2 }, { authorization: `Bearer ${token}` })
  assert.is(refused.status, 500)
  assert.is(await total('links'), 8)
})

test('rows that a delete removes or changes with its own run none', async () => {
  const id = await lend({ work_id: 1 })
  const headers = { authorization: `Bearer ${token}` }
  for (const field of ['loan_id', 'other_id'])
    assert.is((await request('POST', 'lines', { [field]: id }, headers)).status, 201)
  const got = await ran({}, async () => assert.is((await request('DELETE', `loans/${id}`)).status, 204))
  assert.equal(got, [`first delete ${id}`, `second delete ${id}`])
  assert.is(await total('lines'), 1)
})

test('a replay by key runs none, and has the row as it was after the hooks', async () => {
  const own: Script = async ({ row, of }) => {
    if (row) await of(loans).update(row.id, { note: 'noted' })
  }
  const headers = { 'idempotency-key': 'hooked' }
  const got = await ran({ first: own }, async () => {
    const first = await request('POST', 'loans', { work_id: 1 }, headers)
    const again = await request('POST', 'loans', { work_id: 1 }, headers)
    assert.equal([first.status, first.body.note], [201, 'noted'])
    assert.equal([again.status, again.text, again.headers['idempotency-replayed']], [201, first.text, 'true'])
  })
  assert.is(got.length, 2)
})

test('a write that a hook refuses does not use up its key', async () => {
  const headers = { 'idempotency-key': 'refused' }
  await ran({ first: refuse }, async () =>
    assert.is((await request('POST', 'loans', { work_id: 1 }, headers)).status, 409),
  )
  assert.is((await request('POST', 'loans', { work_id: 1 }, headers)).status, 201)
})

test('of writes at the same time, no more succeed than the hook allows', async () => {
  await ran({ first: countLoans }, async () => {
    const responses = await Promise.all(Array.from({ length: 8 }, () => request('POST', 'loans', { work_id: 61 })))
    assert.equal(responses.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409, 409, 409])
  })
  assert.is(await lent(61), 3)
})

test('the handles of a hook that has returned throw', async () => {
  let late: HookContext | undefined
  const id = await (async () => {
    let made = 0
    await ran(
      {
        first: (context) => {
          late = context
        },
      },
      async () => {
        made = await lend({ work_id: 1 })
      },
    )
    return made
  })()
  const error = await Promise.resolve()
    .then(() => late?.of(loans).update(id, { person: 'Late' }))
    .catch((thrown) => thrown)
  assert.instance(error, Error)
})

/** Files of hooks, and what is wrong with each. */
const files: Record<string, [source: string, ...messages: RegExp[]]> = {
  none: ['export default 1', /the default export is not a hook/],
  resource: ["export default { resource: 'loans', on: ['create'], handle() {} }", /resource is "loans"/],
  other: ["export default { resource: { table: 'x' }, on: ['create'], handle() {} }", /resource is no resource/],
  verb: [
    "export default { resource: { table: 'loans' }, on: ['read'], handel() {} }",
    /on/,
    /unknown property "handel"\. Did you mean "handle"\?/,
    /handle is undefined/,
  ],
  empty: ["export default { resource: { table: 'loans' }, on: [], handle() {} }", /on/],
  throws: ["throw new Error('no')", /cannot be loaded: no/],
  good: ["export default { resource: { table: 'loans' }, on: ['delete'], handle() {} }"],
}

test('files with mistakes are refused, all at once', async () => {
  const { path: project } = temporaryFolder('hooks')
  mkdirSync(join(project, 'hooks'))
  for (const [name, [source]] of Object.entries(files)) writeFileSync(join(project, 'hooks', `${name}.ts`), source)
  const { message } = await loadHooks(project, registry).then(
    () => new Error('loaded'),
    (error: Error) => error,
  )
  for (const [name, [, ...expected]] of Object.entries(files)) {
    if (expected.length === 0) assert.not.match(message, `hooks/${name}.ts:`)
    for (const { source } of expected) assert.match(message, new RegExp(`hooks/${name}\\.ts(?::\\d+)*: ${source}`))
  }
  assert.equal(await loadHooks(join(project, 'hooks'), registry), [])
})

test('rows that reference one row, which their hook changes, are all created', async () => {
  const id = await lend({ work_id: 300 })
  const note = async (other: number) => {
    const count: Script = async ({ asService, row }) => {
      if (row?.id === id) return
      await asService.of(lines).create({ loan_id: id, other_id: other })
      const loan = await asService.of(loans).get(id)
      await asService.of(loans).update(id, { note: String(1 + Number(loan?.note ?? 0)) })
    }
    return count
  }
  await ran({ first: await note(id) }, async () => {
    const made = await Promise.all(Array.from({ length: 64 }, () => request('POST', 'loans', { work_id: 301 })))
    assert.equal([...new Set(made.map(({ status }) => status))], [201])
  })
  assert.is((await request('GET', `loans/${id}`)).body.note, '64')
})

test('the rights of a hook are those of whoever sent the request, also where code wrote with all rights', async () => {
  const noteLine: Script = async ({ of, row }) => of(lines).create({ loan_id: row?.id ?? 0 })
  await ran({ first: noteLine }, async () => {
    for (const [caller, status] of [
      ['guest', 403],
      [token, 200],
    ] as const) {
      const response = await request('POST', 'lend-alone', undefined, { authorization: `Bearer ${caller}` })
      assert.is(response.status, status, response.text)
    }
  })
})

test('the documents do not change', async () => {
  const other = await startService({ registry, operations, batch: true, credentials: callersNamed({}) })
  const [one, two] = [await send('/api/openapi.json'), await other.send('/api/openapi.json')]
  assert.equal(one.body.paths['/v1/loans'], two.body.paths['/v1/loans'])
})

test.run()
