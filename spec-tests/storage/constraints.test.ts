/** Constraints that no descriptor declares: a create that violates one is 500 and fails alone. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { server, sharedDatabase } from '../support/database.js'
import { startOffice, token } from '../support/service.js'

const database = await sharedDatabase()
const { address, get } = await startOffice({ url: database.url })
/** A plain request: the document does not list 500 by itself. */
const create = async (name: string, slug: string) => {
  const response = await fetch(`${address}/api/v1/organizations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, slug }),
  })
  return { status: response.status, body: (await response.json()) as { error: { code: string; message: string } } }
}
await database.run(
  server
    ? "alter table organizations add constraint unknown_rule check (name <> 'Forbidden')"
    : `create trigger unknown_rule before insert on organizations when new.name = 'Forbidden'
        begin select raise(abort, 'unknown_rule'); end`,
)
await database.run("create unique index unknown_key on organizations (name) where name = 'Once'")

const test = suite('constraints of the database')

test('a create that violates one is 500, not 503, and the message does not quote the database', async () => {
  const { status, body } = await create('Forbidden', 'forbidden')
  assert.is(status, 500)
  assert.is(body.error.code, 'internal_error')
  assert.not.match(body.error.message, /unknown_rule|constraint|organizations/)
})

test('so is a create that violates a unique index that no descriptor declares', async () => {
  assert.is((await create('Once', 'once')).status, 201)
  const { status, body } = await create('Once', 'again')
  assert.is(status, 500)
  assert.is(body.error.code, 'internal_error')
})

test('it fails alone: creates that arrive with it are stored', async () => {
  const total = async (): Promise<number> => (await get('/v1/organizations?limit=1')).body.meta.total
  const before = await total()
  const names = Array.from({ length: 12 }, (_, n) => (n % 4 === 1 ? 'Forbidden' : `Allowed ${n}`))
  const responses = await Promise.all(names.map((name, n) => create(name, `together-${n}`)))
  const found = responses.map(({ status }) => status)
  assert.equal(
    found,
    names.map((name) => (name === 'Forbidden' ? 500 : 201)),
  )
  assert.is(await total(), before + 9)
})

test.after(() => database.close())
test.run()
