/** Who may set which field (`writeBy`), and with which values a new row begins (`start`): in every kind of write. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rightsOf } from '../../engine/descriptor/access.js'
import { type CreateBody, claim, defineResource, type Row, type UpdateBody } from '../../engine/descriptor/define.js'
import { defineOperation, integer, text, z } from '../../engine/descriptor/index.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callCommand } from '../support/callCommand.js'
import { callersNamed } from '../support/callers.js'
import { operationsNamed } from '../support/ownOperations.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'
import { testTranscripts, transcriptWith } from '../support/transcript.js'

const all = { read: 'signed-in', create: ['clerk', { owner: claim('owner') }], update: 'signed-in' } as const
const loans = resourceIn(
  'loans',
  {
    title: text(),
    owner: text({ filter: true }),
    status: text({
      oneOf: ['Pending', 'Approved', 'Rejected'],
      next: { Pending: ['Approved', 'Rejected'] },
      default: 'Pending',
      writeBy: 'registrar',
    }),
    code: text({ unique: true, writeBy: ['registrar', 'librarian'] }),
    rank: integer({ writeBy: 'registrar', default: 3 }),
    note: text({ readBy: ['registrar'], writeBy: 'registrar' }),
  },
  { required: ['status'], update: true, import: true, access: all },
)
const visits = resourceIn(
  'visits',
  {
    title: text(),
    state: text({
      oneOf: ['planned', 'begun', 'done'],
      next: { planned: ['begun'], begun: ['done'] },
      start: ['planned', 'begun'],
    }),
    level: integer({ oneOf: [1, 2, 3], next: { 1: [2, 3] }, start: [1], default: 1 }),
    phase: text({ oneOf: ['a', 'b'], next: { a: ['b'] }, start: ['a'], redacted: true }),
  },
  {
    required: ['level'],
    update: true,
    import: true,
    rules: [{ fields: ['title', 'state'], holds: ({ state }) => state !== 'done', message: 'not done yet' }],
  },
)
const operations = operationsNamed({
  lend: defineOperation({
    method: 'POST',
    path: '/v1/lend',
    about: 'Lends.',
    access: ['clerk', 'registrar'],
    body: z.object({ as: z.enum(['caller', 'service']), status: z.string().optional() }),
    response: z.looseObject({ status: z.string() }),
    async handle({ body: { as, status }, of, asService }) {
      const made = await (as === 'service' ? asService.of(loans) : of(loans)).create({ title: 'lent', status } as never)
      return made as never
    },
  }),
})
/** The types that follow from `start`. */
const steps = defineResource({
  name: 'Step',
  area: 'Test',
  table: 'steps',
  fields: {
    state: text({ oneOf: ['planned', 'begun', 'done'], next: { planned: ['begun'] }, start: ['planned', 'begun'] }),
    level: integer({ oneOf: [1, 2, 3], next: { 1: [2, 3] }, start: [1], default: 1, writeBy: ['chief'] }),
  },
  required: ['state', 'level'],
  create: true,
  update: true,
})
const level: Row<typeof steps>['level'] = 3
const newSteps: CreateBody<typeof steps>[] = [
  { state: 'planned' },
  { state: 'begun', level: 1 },
  { state: 'planned', level: null },
]
const changedStep: UpdateBody<typeof steps> = { state: 'done', level }
// @ts-expect-error it only follows others
const wrongStep: CreateBody<typeof steps> = { state: 'done' }
// @ts-expect-error it only follows others
const wrongLevel: CreateBody<typeof steps> = { state: 'begun', level: 2 }
// @ts-expect-error oneOf does not have it
integer({ oneOf: [1, 2], next: { 1: [2] }, start: [3] })

const callers = callersNamed({
  registrar: { roles: ['registrar', 'clerk'] },
  librarian: { roles: ['librarian', 'clerk'] },
  clerk: { roles: ['clerk'] },
  ana: { roles: [], claims: { owner: 'ana' } },
})
const registry = [loans, visits]
const service = await startService({ registry, operations, credentials: callers, batch: true })
const run = transcriptWith(service)
const csv = async (path: string, caller: string, body: string) => {
  const headers = { authorization: `Bearer ${caller}`, 'content-type': 'text/csv' }
  const { status, body: sent } = await service.send(`/api/v1/${path}`, { method: 'POST', headers, body })
  return {
    status,
    ids: sent.ids,
    issues: sent.error?.details.issues.map((one: { type: string; loc: string[] }) => [one.type, ...one.loc]),
  }
}

const test = suite('rights on fields')

testTranscripts(test, run, {
  'a create without the field gets the default, or null': `
    clerk POST loans {"title":"A"} -> 201 {"status":"Pending","code":null,"rank":3}
    ana POST loans {"owner":"ana"} -> 201 {"status":"Pending"}`,
  'another role may send it in no value': `
    clerk POST loans {"status":"Approved"} -> 422 extra_forbidden body status
    clerk POST loans {"status":"Pending"} -> 422 extra_forbidden body status
    clerk POST loans {"status":null} -> 422 extra_forbidden body status
    clerk POST loans {"code":"A","status":7,"titel":1} -> 422 extra_forbidden body titel, extra_forbidden body status, extra_forbidden body code
    librarian POST loans {"rank":1,"code":"B"} -> 422 extra_forbidden body rank
    ana POST loans {"owner":"ana","rank":1} -> 422 extra_forbidden body rank`,
  'each of the roles, and the write token, may': `
    registrar POST loans {"status":"Approved","code":"C1","rank":null,"note":"x"} -> 201 {"status":"Approved","code":"C1","rank":null,"note":"x"}
    librarian POST loans {"code":"C2"} -> 201 {"code":"C2"}
    POST loans {"status":"Rejected","code":"C3","rank":9} -> 201 {"status":"Rejected","rank":9}`,
  'an update too, also if it changes nothing': `
    row = clerk POST loans {"title":"U"} -> 201
    clerk PATCH loans/{row} {"status":"Approved"} -> 422 extra_forbidden body status
    clerk PATCH loans/{row} {"status":"Pending"} -> 422 extra_forbidden body status
    clerk PATCH loans/{row} {"rank":null,"title":"V"} -> 422 extra_forbidden body rank
    clerk GET loans/{row} -> 200 {"title":"U","status":"Pending","rank":3}
    clerk PATCH loans/{row} {"title":"V"} -> 200 {"title":"V"}
    librarian PATCH loans/{row} {"code":"U1"} -> 200 {"code":"U1"}
    registrar PATCH loans/{row} {"status":"Approved"} -> 200 {"status":"Approved"}`,
  'the message names the roles; what is hidden stays so': `
    clerk POST loans {"code":"X","note":"x"} -> 422 {"error":{"details":{"issues":[{"msg":"note is a field that you may not use."},{"msg":"code is set only by registrar or librarian; remove it."}]}}}`,
  'a batch too, and nothing of it is stored': `
    clerk BATCH POST loans {"title":"B1"} & POST loans {"status":"Approved"} -> 422 extra_forbidden body operations 1 body status
    clerk GET loans?q=B1 -> 200 {"meta":{"total":0}}
    clerk BATCH POST loans {"rank":{"$ref":"nothing.id"}} -> 422 extra_forbidden body operations 0 body rank
    clerk BATCH POST loans {"title":"B1"} -> 200
    registrar BATCH POST loans {"status":"Approved"} -> 200`,
  'custom operations act for their caller, or with all rights': `
    clerk POST lend {"as":"caller"} -> 200 {"status":"Pending"}
    clerk POST lend {"as":"service","status":"Approved"} -> 200 {"status":"Approved"}
    registrar POST lend {"as":"caller","status":"Approved"} -> 200 {"status":"Approved"}`,
  'an import of JSON has no empty cells': `
    clerk POST loans/import [{"title":"I"},{"title":"J","status":null}] -> 422 extra_forbidden body 1 status
    clerk POST loans/import [{"title":"I"}] -> 201 {"created":1}`,
  'a row that an import finds by such a field is changed, and none is created': `
    POST loans {"code":"M1","title":"before"} -> 201
    clerk POST loans/import?match=code [{"code":"M1","title":"after"}] -> 201 {"updated":1}
    clerk POST loans/import?match=code [{"code":"M1","rank":3}] -> 422 extra_forbidden body 0 rank
    clerk POST loans/import?match=code [{"code":"M2","title":"new"}] -> 422 extra_forbidden body 0 code
    librarian POST loans/import?match=code [{"code":"M2","title":"new"}] -> 201 {"created":1}`,
  'a new row begins with a value of start, with null, or with nothing': `
    POST visits {"state":"planned"} -> 201 {"state":"planned","level":1}
    POST visits {"state":"begun","level":1} -> 201 {"state":"begun"}
    POST visits {"state":null,"level":null} -> 201 {"state":null,"level":1}
    POST visits {} -> 201 {"state":null,"level":1}`,
  'any other value is 422, in every create, and no rule is evaluated with it': `
    POST visits {"title":"x","state":"done","level":2} -> 422 {"error":{"details":{"issues":[{"type":"transition","loc":["body","state"],"msg":"state must begin as \\"planned\\" or \\"begun\\"; \\"done\\" is not for new rows.","ctx":{"from":null,"expected":["planned","begun"]}},{"type":"transition","loc":["body","level"],"msg":"level must begin as 1; 2 is not for new rows.","ctx":{"from":null,"expected":[1]}}]}}}
    POST visits {"state":"begn"} -> 422 enum body state
    POST visits/import [{"state":"begun"},{"state":"done"}] -> 422 transition body 1 state
    BATCH POST visits {"state":"done"} -> 422 transition body operations 0 body state`,
  'a message about a redacted field has no value': `
    POST visits {"phase":"b"} -> 422 {"error":{"details":{"issues":[{"msg":"phase must begin as \\"a\\"."}]}}}
    POST visits {"phase":"a"} -> 201`,
  'updates follow the steps': `
    row = POST visits {"state":"planned"} -> 201
    PATCH visits/{row} {"state":"begun"} -> 200
    PATCH visits/{row} {"state":"planned"} -> 422 transition body state
    PATCH visits/{row} {"state":"done"} -> 200
    free = POST visits {} -> 201
    PATCH visits/{free} {"state":"done"} -> 200`,
})

test('an empty cell of an import is not sent, also where all cells of a column are', async () => {
  const made = await csv('loans/import', 'clerk', 'title,status,rank,code\nE1,,,\nE2,,,\n')
  assert.is(made.status, 201, JSON.stringify(made))
  await run(`clerk GET loans/${made.ids[1]} -> 200 {"title":"E2","status":"Pending","rank":3,"code":null}`)
  const [first] = made.ids
  assert.is((await csv('loans/import?match=id', 'clerk', `id,title,rank\n${first},E3,\n`)).status, 201)
  await run(`clerk GET loans/${first} -> 200 {"title":"E3","rank":3}`)
  const filled = await csv('loans/import', 'clerk', 'title,status,rank\nE4,Approved,\nE5,,4\nE6,"",\nE7,,x\n')
  assert.equal(filled.issues, [
    ['extra_forbidden', 'body', 0, 'status'],
    ['extra_forbidden', 'body', 1, 'rank'],
    ['extra_forbidden', 'body', 2, 'status'],
    ['extra_forbidden', 'body', 3, 'rank'],
  ])
  // Who may send the field sends null.
  const nulls = await csv('loans/import', 'registrar', 'title,rank\nE7,\n')
  await run(`clerk GET loans/${nulls.ids[0]} -> 200 {"title":"E7","rank":null}`)
  const ignored = await csv('loans/import?ignore=status', 'clerk', 'title,status\nE8,Approved\n')
  await run(`clerk GET loans/${ignored.ids[0]} -> 200 {"title":"E8","status":"Pending"}`)
})

test('the documents have both, and their examples can be sent by everybody who may create rows', async () => {
  const { components, paths } = (await service.send('/api/openapi.json')).body
  const { Loans, LoansCreate, LoansUpdate, VisitsCreate, VisitsUpdate, Visits } = components.schemas
  for (const schema of [Loans, LoansCreate, LoansUpdate])
    assert.equal(schema.properties.status['x-write-by'], ['registrar'])
  assert.match(LoansCreate.properties.code.description, /Set only by registrar, librarian; refused from others\./)
  const state = VisitsCreate.properties.state
  assert.equal(
    [state['x-start'], state.enum],
    [
      ['planned', 'begun'],
      ['planned', 'begun', null],
    ],
  )
  assert.match(state.description, /A new row begins as `planned` or `begun`\./)
  for (const schema of [VisitsUpdate, Visits])
    assert.equal([schema.properties.state['x-start'], schema.properties.state.enum.length], [undefined, 4])
  const { example } = paths['/v1/loans'].post.requestBody.content['application/json']
  assert.equal(
    ['status', 'code', 'rank', 'note'].filter((name) => name in example),
    [],
  )
  await run(`clerk POST loans ${JSON.stringify(example)} -> 201`)
  assert.equal(Object.keys(paths['/v1/loans/{item_id}'].patch.requestBody.content['application/json'].example), [
    'title',
  ])
})

test('check says who sets a field, also where nobody but the write token writes', async () => {
  const project = temporaryProject()
  mkdirSync(join(project, 'resources'))
  const write = (name: string, more: string) =>
    writeFileSync(
      join(project, 'resources', `${name}.ts`),
      `import { defineResource, text } from 'resource-registry-engine'
      export default defineResource({ name: '${name}', area: 'Test', table: '${name}', required: [], create: true, fields: {
        status: text({ writeBy: 'registrar' }), code: text({ writeBy: ['registrar', 'head'] }) } ${more} })`,
    )
  write('notes', '')
  const plain = await callCommand('check', [], {}, project)
  assert.match(plain.stdout, /^notes.status is set only by registrar\.$/m, plain.stderr)
  write('loans', ", access: { read: 'public', create: 'clerk' }")
  const { stdout, status } = await callCommand('check', [], {}, project)
  assert.is(status, 0)
  assert.match(stdout, /^loans +public +clerk +– +–\n/m)
  assert.match(stdout, /^loans.status is set only by registrar\.\nloans.code is set only by registrar, head\.$/m)
})

test('the types of a create have the values of start alone', () => {
  const bodies = [...newSteps, changedStep, wrongStep, wrongLevel].map(({ state }) => state)
  assert.equal(bodies, ['planned', 'begun', 'planned', 'done', 'done', 'begun'])
})

test('nobody is refused a field that all may set', () => {
  const clerk = rightsOf({ name: 'clerk', roles: ['clerk'], claims: {} })
  assert.equal(clerk.of(visits).readOnly, [])
  assert.equal(clerk.of(loans).readOnly, ['status', 'code', 'rank'])
})

test.run()
