/** Custom operations as transactions: races, all or nothing, time limits, keys, what is refused, and the rights of their handles. */
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { ApiError, defineOperation, defineResource, integer, now, text, z } from '../../engine/descriptor/index.js'
import type { OperationContext } from '../../engine/descriptor/operation.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { callersNamed } from '../support/callers.js'
import { sharedDatabase } from '../support/database.js'
import { operationsNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, clientOf, startService, type TestClient, type TestResponse, token } from '../support/service.js'
import { until } from '../support/until.js'

const books = defineResource({
  name: 'Book',
  area: 'Shop',
  table: 'books',
  fields: {
    title: text({ sort: true }),
    isbn: text({ unique: true }),
    stock: integer({ min: 0, filter: true, range: true, sort: true }),
    cost: integer({ filter: true, readBy: ['owner'] }),
    made: text({ managed: now }),
  },
  required: ['title', 'stock'],
  create: true,
  update: true,
  delete: true,
})
const orders = defineResource({
  name: 'Order',
  area: 'Shop',
  table: 'orders',
  fields: {
    book_id: integer({ references: 'books', filter: true }),
    customer: text({ filter: true }),
    copies: integer({ min: 1, range: true }),
    status: text({
      oneOf: ['open', 'shipped', 'cancelled'],
      next: { open: ['shipped', 'cancelled'] },
      default: 'open',
      filter: true,
    }),
  },
  required: ['book_id', 'customer', 'copies', 'status'],
  create: true,
  update: ['status'],
  access: {
    read: ['clerk', { customer: claim('name') }],
    create: ['clerk', { customer: claim('name') }],
    update: 'clerk',
  },
})
/** Clients may only read these. */
const places = defineResource({
  name: 'Place',
  area: 'Shop',
  table: 'places',
  fields: {
    name: text({ unique: true, filter: true }),
    seats: integer({ min: 0, max: 10 }),
    made: text({ managed: now }),
  },
  required: ['name'],
  create: false,
})
const registry = registryFrom({ books, orders, places })
const [bookRows, orderRows] = registry as unknown as [Resource, Resource]

type Context = OperationContext<Record<string, unknown>, Record<string, unknown>>
type Script = (context: Context) => unknown

/** What the operations run, by the name in their path. */
const scripts = new Map<string, Script>()
const runScript = (context: Context) => scripts.get(String(context.params['name']))?.(context) as never

const common = { about: 'Runs code of a test.', query: z.looseObject({}), response: z.any() } as const
const body = z.looseObject({}).optional()
const write = { ...common, method: 'POST', access: 'signed-in', body, handle: runScript as never } as const
const operations = operationsNamed({
  run: defineOperation({ ...write, path: '/v1/run/{name}' }),
  'run-quick': defineOperation({ ...write, path: '/v1/run-quick/{name}', timeoutMs: 300 }),
  'run-alone': defineOperation({ ...write, path: '/v1/run-alone/{name}', transaction: false }),
  'run-number': defineOperation({ ...write, path: '/v1/run-number/{name}', response: z.object({ n: z.int() }) }),
  read: defineOperation({
    ...common,
    method: 'GET',
    path: '/v1/read/{name}',
    access: 'public',
    handle: runScript as never,
  }),
})
const lines: string[] = []
const { url } = await sharedDatabase()
const settings = {
  url,
  registry,
  operations,
  credentials: callersNamed({
    clerk: { roles: ['clerk'] },
    owner: { roles: ['clerk', 'owner'] },
    ben: { roles: ['customer'], claims: { name: 'ben' } },
    guest: { roles: ['guest'] },
  }),
  logger: pino({}, { write: (line: string) => lines.push(line) }),
}
const service = await startService(settings)
/** Another process on the same database. */
const otherService = clientOf((await startService(settings)).address)
// Its own errors are not in the documents.
const { send } = clientOf(service.address)

interface Call {
  readonly caller?: string | undefined
  readonly with?: 'run' | 'run-quick' | 'run-alone' | 'run-number' | 'read'
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly query?: string
  readonly by?: Pick<TestClient, 'send'>
  /** By default a new one. */
  readonly name?: string
}

let scriptCount = 0
/** Runs code in an operation. */
const run = (script: Script, call: Call = {}): Promise<TestResponse> => {
  const { with: operation = 'run', name = `s${++scriptCount}`, headers, query = '', by = { send } } = call
  const caller = 'caller' in call ? call.caller : 'clerk'
  scripts.set(name, script)
  const isRead = operation === 'read'
  return by.send(`/api/v1/${operation}/${name}${query}`, {
    method: isRead ? 'GET' : 'POST',
    headers: {
      ...(!isRead && { 'content-type': 'application/json' }),
      ...(caller && { authorization: `Bearer ${caller}` }),
      ...headers,
    },
    ...(!isRead && { body: JSON.stringify(call.body ?? {}) }),
  })
}
const value = async (script: Script, call?: Call) => {
  const { status, body: result, text: sent } = await run(script, call)
  assert.is(status, 200, sent)
  return result
}
const many = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

/** A request of an ordinary client. */
const request = (method: string, path: string, sent?: object, headers = {}) =>
  send(`/api/v1/${path}`, {
    method,
    headers: { ...authorized, ...headers },
    ...(sent && { body: JSON.stringify(sent) }),
  })
const created = async (path: string, sent: object): Promise<number> => {
  const { status, body: row, text: answer } = await request('POST', path, sent)
  assert.is(status, 201, answer)
  return row.id
}
let bookCount = 0
const newBook = (stock: number, more = {}) => created('books', { title: `Book ${++bookCount}`, stock, ...more })
const newOrder = (book_id: number, copies: number, customer = 'ana') => created('orders', { book_id, copies, customer })
const rowOf = async (path: string) => (await request('GET', path)).body
const stockOf = async (id: number): Promise<number> => (await rowOf(`books/${id}`)).stock
const statuses = (responses: readonly TestResponse[]) => responses.map(({ status }) => status).sort()
const outcome = ({ status, body: { error } }: TestResponse) => [status, error?.code]

/** What the log has of a response, as text. */
const loggedOf = async ({ headers }: TestResponse): Promise<string> => {
  await delay(10)
  return lines.filter((line) => JSON.parse(line).id === headers['x-request-id']).join('')
}

const ship =
  (id: number): Script =>
  async ({ of, asService }) => {
    const order = await of(orders).get(id)
    if (!order) throw new ApiError(404, 'not_found', 'There is no such order.')
    if (order.status !== 'open') throw new ApiError(409, 'not_open', `This order is ${order.status}.`)
    const book = await of(books).get(order.book_id)
    if (!book || order.copies > book.stock) throw new ApiError(409, 'sold_out', 'There are too few copies left.')
    await of(orders).update(order.id, { status: 'shipped' })
    const { stock } = await asService.of(books).update(book.id, { stock: book.stock - order.copies })
    return { left: stock }
  }
const increment =
  (id: number): Script =>
  async ({ asService }) => {
    const book = await asService.of(books).get(id)
    const { stock } = await asService.of(books).update(id, { stock: (book?.stock ?? 0) + 1 })
    return stock
  }

const test = suite('transactions of custom operations')

test('five operations at the same time sell no more than there is', async () => {
  const id = await newBook(5)
  const ids = await many(5, () => newOrder(id, 2))
  const responses = await Promise.all(ids.map((order) => run(ship(order))))
  assert.equal(statuses(responses), [200, 200, 409, 409, 409])
  assert.is(await stockOf(id), 1)
  const shipped = (await rowOf(`orders?book_id=${id}&status=shipped`)).meta.total
  assert.is(shipped, 2)
})

test('five operations at the same time sell all that there is', async () => {
  const id = await newBook(5)
  const ids = await many(5, () => newOrder(id, 1))
  const responses = await Promise.all(ids.map((order) => run(ship(order))))
  assert.equal(responses.map(({ body: { left } }) => left).sort(), [0, 1, 2, 3, 4])
  assert.is(await stockOf(id), 0)
})

test('an order is shipped once, however often it is asked for at the same time', async () => {
  const id = await newBook(9)
  const order = await newOrder(id, 3)
  assert.equal(statuses(await many(5, () => run(ship(order)))), [200, 409, 409, 409, 409])
  assert.is(await stockOf(id), 6)
})

test('no increment of a hot row is lost', async () => {
  const id = await newBook(0)
  const responses = await many(16, () => run(increment(id)))
  assert.equal(
    responses.map(({ body: stock }) => stock).sort((a, b) => a - b),
    Array.from({ length: 16 }, (_, n) => n + 1),
  )
  assert.is(await stockOf(id), 16)
})

test('two processes on one database lose no increment, and change once for a key', async () => {
  const id = await newBook(0)
  const by = (n: number) => (n % 2 === 0 ? {} : { by: otherService })
  const responses = await many(12, (n) => run(increment(id), by(n)))
  assert.equal(
    statuses(responses),
    responses.map(() => 200),
  )
  assert.is(await stockOf(id), 12)
  const call = { name: 'everywhere', headers: { 'idempotency-key': 'everywhere' } }
  const keyed = await many(8, (n) => run(increment(id), { ...call, ...by(n) }))
  assert.equal(
    keyed.map(({ text: sent }) => sent),
    keyed.map(() => '13'),
  )
  assert.is(await stockOf(id), 13)
})

test('code that catches every error loses no increment either', async () => {
  const id = await newBook(0)
  const careless: Script = async ({ of, asService }) => {
    const book = await of(books)
      .get(id)
      .catch(() => null)
    await asService
      .of(books)
      .update(id, { stock: (book?.stock ?? 0) + 1 })
      .catch(() => undefined)
    const after = await of(books)
      .get(id)
      .catch(() => null)
    return after?.stock ?? null
  }
  const responses = await many(12, () => run(careless))
  const stored = responses.filter(({ status }) => status === 200)
  assert.is(stored.length, 12)
  assert.is(await stockOf(id), 12)
  assert.is(new Set(stored.map(({ body: stock }) => stock)).size, 12)
})

test('calls that are made at the same time run one after another', async () => {
  const ids = await many(4, () => newBook(1))
  const got = await value(async ({ of, asService }) => {
    const rows = await Promise.all(ids.map((id) => of(books).get(id)))
    const changed = await Promise.all(
      rows.map((row) =>
        asService
          .of(books)
          .update(row?.id ?? 0, { stock: 2, isbn: `same ${ids[0]}` })
          .then(
            () => 'stored',
            ({ code }) => code,
          ),
      ),
    )
    return { changed, total: (await of(books).count({ 'stock.gte': 0 })) > 3 }
  })
  assert.equal(got, { changed: ['stored', 'conflict', 'conflict', 'conflict'], total: true })
  assert.equal(await Promise.all(ids.map(stockOf)), [2, 1, 1, 1])
})

test('what an operation has begun and does not wait for is stored with it, or not at all', async () => {
  const id = await newBook(1)
  await value(({ asService }) => {
    void asService.of(books).update(id, { stock: 2 })
    return true
  })
  assert.is(await stockOf(id), 2)
  const failed = await run(({ asService }) => {
    void asService.of(books).update(id, { stock: 3 })
    throw new ApiError(409, 'no', 'No.')
  })
  assert.is(failed.status, 409)
  assert.is(await stockOf(id), 2)
})

test('a write that is refused while the code does not wait for it undoes all of them', async () => {
  const [id, other] = [await newBook(1), await newBook(1)]
  const failed = await run(async ({ asService }) => {
    void asService.of(books).update(other, { stock: -1 })
    await asService.of(books).update(id, { stock: 2 })
    return true
  })
  assert.is(failed.status, 500)
  assert.match(await loggedOf(failed), /a call failed that the code did not wait for.*stock/)
  assert.equal(await Promise.all([id, other].map(stockOf)), [1, 1])
})

test('what JSON does not have is refused in bodies, not made null', async () => {
  const id = await newBook(1)
  for (const stock of [Number.NaN, Number.POSITIVE_INFINITY, () => 1]) {
    const failed = await run(({ asService }) => asService.of(books).update(id, { stock: stock as number }))
    assert.is(failed.status, 500)
    assert.match(await loggedOf(failed), /TypeError.*stock cannot be/)
  }
})

test('a list takes an object alone, a count no page, and an empty list of values finds nothing', async () => {
  for (const query of [[], new Date(), new Map([['title', 'x']]), 5, null])
    assert.is((await run(({ of }) => of(books).list(query as never))).status, 500, String(query))
  for (const query of [{ limit: 0 }, { sort: 'id' }, { offset: 1 }])
    assert.is((await run(({ of }) => of(books).count(query as never))).status, 500, JSON.stringify(query))
  const empty = await value(({ of }) => of(orders).list({ 'status.in': [], limit: 3 }))
  assert.equal(empty, { data: [], meta: { total: 0, limit: 3, offset: 0 } })
  assert.is((await run(({ of }) => of(orders).list({ 'status.in': [], limit: 0 }))).status, 500)
})

test('the response of a refused write has no value that its client did not send', async () => {
  const missing = await run(({ asService }) => asService.of(books).update(987_654, { stock: 1 }))
  assert.equal(missing.body.error, { code: 'not_found', message: 'There is no such book.' })
  const reference = await run(({ of }) =>
    of(orders).create({ book_id: 987_654, customer: 'ana', copies: 1, status: 'open' }),
  )
  assert.is(outcome(reference).join(), '409,conflict')
  assert.not.match(reference.text, /987/)
  const id = await newBook(1)
  await newOrder(id, 1)
  const referenced = await run(({ asService }) => asService.of(books).delete(id))
  assert.is(outcome(referenced).join(), '409,referenced')
  assert.not.match(referenced.text, /orders/)
})

test('what an operation has counted and listed still holds when it is stored', async () => {
  const id = await newBook(1)
  const reserve: Script = async ({ of }) => {
    if ((await of(orders).count({ book_id: id })) >= 3) throw new ApiError(409, 'full', 'There are three.')
    return of(orders).create({ book_id: id, customer: 'ana', copies: 1 })
  }
  assert.equal(statuses(await many(8, () => run(reserve))), [200, 200, 200, 409, 409, 409, 409, 409])
  assert.is((await rowOf(`orders?book_id=${id}`)).meta.total, 3)
})

test('two operations that read both rows and change one each do not both succeed', async () => {
  const ids = [await newBook(1), await newBook(1)]
  const take =
    (mine: number): Script =>
    async ({ of, asService }) => {
      const rows = await Promise.all(ids.map((id) => of(books).get(id)))
      if (rows.some((row) => row?.stock !== 1)) throw new ApiError(409, 'last', 'One has to stay.')
      await asService.of(books).update(mine, { stock: 0 })
      return true
    }
  assert.equal(statuses(await Promise.all(ids.map((id) => run(take(id))))), [200, 409])
})

test('an update of a client comes before or after an operation as a whole', async () => {
  const id = await newBook(5)
  let hasRead = false
  const running = run(async ({ of, asService }) => {
    const book = await of(books).get(id)
    hasRead = true
    await delay(100)
    const { stock } = await asService.of(books).update(id, { stock: (book?.stock ?? 0) - 1 })
    return stock
  })
  await until(() => hasRead)
  const update = request('PATCH', `books/${id}`, { stock: 100 })
  const { body: left } = await running
  assert.is((await update).status, 200)
  // It was before the update, or after it.
  assert.ok([`4 100`, `99 99`].includes(`${left} ${await stockOf(id)}`), `${left} ${await stockOf(id)}`)
})

test('nobody sees what is not stored yet, but the operation does', async () => {
  const id = await newBook(5)
  let changed: number | undefined
  let isSeen = false
  const running = run(async ({ of, asService }) => {
    await asService.of(books).update(id, { stock: 4 })
    changed = (await of(books).get(id))?.stock
    const listed = (await of(books).list({ stock: 4, 'stock.lte': 4, limit: 200 })).data
    isSeen = listed.some((row) => row.id === id)
    await delay(100)
    return true
  })
  await until(() => changed !== undefined)
  assert.is(await stockOf(id), 5)
  await running
  assert.equal([changed, isSeen, await stockOf(id)], [4, true, 4])
})

test('each attempt gets fresh parameters, query and body', async () => {
  const id = await newBook(0)
  const responses = await many(6, (n) =>
    run(
      async (context) => {
        const { params, query, body: sent } = context as unknown as Record<string, Record<string, unknown>>
        const got = JSON.stringify([params?.['name'], query?.['a'], sent])
        for (const part of [params, query, sent]) for (const name of Object.keys(part ?? {})) delete part?.[name]
        await increment(id)(context)
        return got
      },
      { name: `fresh${n}`, query: `?a=${n}`, body: { list: [n] } },
    ),
  )
  assert.equal(
    responses.map(({ body: got }) => got),
    responses.map((_, n) => JSON.stringify([`fresh${n}`, String(n), { list: [n] }])),
  )
  assert.is(await stockOf(id), 6)
})

test('all or nothing: an error after the writes undoes them', async () => {
  const id = await newBook(5)
  const total = (await rowOf('orders?limit=1')).meta.total
  for (const [error, expected] of [
    [new ApiError(418, 'teapot', 'No.'), [418, 'teapot']],
    [new Error('a secret of the code'), [500, 'internal_error']],
  ] as const) {
    const response = await run(async ({ of, asService }) => {
      await asService.of(books).update(id, { stock: 1 })
      await of(orders).create({ book_id: id, customer: 'ana', copies: 1 })
      throw error
    })
    assert.equal(outcome(response), expected)
    assert.not.match(response.text, /secret/)
  }
  assert.equal([await stockOf(id), (await rowOf('orders?limit=1')).meta.total], [5, total])
})

test('all or nothing: a result that breaks the response undoes the writes', async () => {
  const id = await newBook(5)
  const change =
    (n: unknown): Script =>
    async ({ asService }) => {
      await asService.of(books).update(id, { stock: 1 })
      return { n }
    }
  assert.is((await run(change('x'), { with: 'run-number' })).status, 500)
  assert.is(await stockOf(id), 5)
  assert.is((await run(change(1), { with: 'run-number' })).status, 200)
  assert.is(await stockOf(id), 1)
})

test('an operation that takes too long is undone: 503, its handles throw, and other writes go on', async () => {
  const id = await newBook(5)
  const other = await newBook(5)
  let late: Context['asService'] | undefined
  const start = performance.now()
  const waiting = run(
    async ({ asService }) => {
      await asService.of(books).update(id, { stock: 1 })
      late = asService
      return new Promise(() => {})
    },
    { with: 'run-quick' },
  )
  await until(() => late !== undefined)
  const update = await request('PATCH', `books/${other}`, { stock: 6 })
  assert.is(update.status, 200)
  const response = await waiting
  assert.is(response.status, 503)
  assert.ok(performance.now() - start < 3_000, `${performance.now() - start} ms`)
  assert.equal([await stockOf(id), await stockOf(other)], [5, 6])
  for (const work of [
    (): unknown => late?.of(books).get(id),
    () => late?.of(books).update(id, { stock: 2 }),
    () => late?.of(books).create({ title: 'Late', stock: 1 }),
  ])
    assert.instance(
      await Promise.resolve()
        .then(work)
        .catch((error) => error),
      Error,
    )
  assert.is(await stockOf(id), 5)
  assert.is((await request('PATCH', `books/${id}`, { stock: 7 })).status, 200)
})

test('what waits for a row when its time is over stores nothing', async () => {
  const id = await newBook(1)
  const hang: Script = async ({ asService }) => {
    await asService.of(books).update(id, { title: 'hung' })
    await new Promise(() => {})
  }
  const loop: Script = async ({ asService }) => {
    for (let n = 0; ; n++) await asService.of(books).update(id, { title: `loop ${n}` })
  }
  const scriptOf = (n: number) => (n < 3 ? hang : loop)
  for (const n of [1, 3, 4])
    for (const { status } of await many(n, (one) => run(scriptOf(one + n - 1), { with: 'run-quick' })))
      assert.is(status, 503)
  assert.not.match((await rowOf(`books/${id}`)).title, /hung|loop/)
})

test('a request to the service from inside that writes the same row ends at the time limit', async () => {
  const id = await newBook(5)
  let inner: Promise<TestResponse> | undefined
  const response = await run(
    async ({ asService }) => {
      await asService.of(books).update(id, { stock: 1 })
      inner = request('PATCH', `books/${id}`, { stock: 9 })
      await inner
      return true
    },
    { with: 'run-quick' },
  )
  assert.is(response.status, 503)
  assert.is((await inner)?.status, 200)
  assert.is(await stockOf(id), 9)
})

test('the handles of an operation that has returned throw', async () => {
  const id = await newBook(5)
  let late: Context | undefined
  await value((context) => {
    late = context
    return true
  })
  for (const work of [
    (): unknown => late?.of(books).get(id),
    () => late?.asService.of(books).update(id, { stock: 2 }),
    () => late?.of(books).count(),
  ])
    assert.instance(
      await Promise.resolve()
        .then(work)
        .catch((error) => error),
      Error,
    )
  assert.is(await stockOf(id), 5)
})

test('a GET reads, and its writes throw', async () => {
  const id = await newBook(5)
  assert.is((await value(({ of }) => of(books).get(id), { with: 'read' })).stock, 5)
  for (const work of [
    ({ asService }: Context) => asService.of(books).update(id, { stock: 1 }),
    ({ asService }: Context) => asService.of(books).create({ title: 'New', stock: 1 }),
    ({ asService }: Context) => asService.of(books).delete(id),
  ])
    assert.equal(outcome(await run(work, { with: 'read', caller: token })), [500, 'internal_error'])
  assert.is(await stockOf(id), 5)
})

test('the same key gets the same response, and changes nothing again', async () => {
  const id = await newBook(0)
  const call = { name: 'keyed', headers: { 'idempotency-key': 'keyed' } }
  const first = await run(increment(id), call)
  const again = await run(increment(id), call)
  assert.equal([first.status, first.text, first.headers['idempotency-replayed']], [200, '1', undefined])
  assert.equal([again.status, again.text, again.headers['idempotency-replayed']], [200, '1', 'true'])
  assert.is(await stockOf(id), 1)
  // Another caller's key is another one.
  assert.is((await run(increment(id), { ...call, caller: 'owner' })).text, '2')
  const other = await run(increment(id), { ...call, body: { other: true } })
  assert.is(other.status, 422)
  assert.is(other.body.error.details.issues[0].type, 'idempotency_key_reused')
  assert.is((await run(increment(id), { ...call, with: 'run-quick' })).status, 422)
  assert.is(await stockOf(id), 2)
})

test('the same key at the same time changes once', async () => {
  const id = await newBook(0)
  const call = { name: 'together', headers: { 'idempotency-key': 'together' } }
  const responses = await many(8, () => run(increment(id), call))
  assert.equal(
    responses.map(({ status, text: sent }) => [status, sent]),
    responses.map(() => [200, '1']),
  )
  assert.is(responses.filter(({ headers }) => headers['idempotency-replayed'] === 'true').length, 7)
  assert.is(await stockOf(id), 1)
})

test('an operation that fails does not use up its key', async () => {
  const id = await newBook(0)
  const call = { name: 'failing', headers: { 'idempotency-key': 'failing' } }
  const failing: Script = async (context) => {
    await increment(id)(context)
    throw new ApiError(409, 'no', 'Not yet.')
  }
  assert.is((await run(failing, call)).status, 409)
  assert.is((await run(increment(id), call)).text, '1')
})

test('without a transaction each write is stored at once, and a key is refused', async () => {
  const id = await newBook(5)
  const script: Script = async ({ asService }) => {
    await asService.of(books).update(id, { stock: 4 })
    throw new ApiError(502, 'provider', 'The other system does not answer.')
  }
  const refused = await run(script, { with: 'run-alone', headers: { 'idempotency-key': 'x' } })
  assert.equal(outcome(refused), [501, 'not_supported'])
  assert.is(await stockOf(id), 5)
  assert.is((await run(script, { with: 'run-alone' })).status, 502)
  assert.is(await stockOf(id), 4)
})

/** Writes that are refused, with the status and code that is thrown. */
const refusals: Record<
  string,
  [work: (context: Context, id: number) => Promise<unknown>, status: number, code: string]
> = {
  'a value that is not unique': [
    ({ asService }) => asService.of(books).create({ title: 'Twin', isbn: 'taken', stock: 1 }),
    409,
    'conflict',
  ],
  'an update to a value that is not unique': [
    ({ asService }, id) => asService.of(books).update(id, { isbn: 'taken' }),
    409,
    'conflict',
  ],
  'a reference to no row': [
    ({ of }) => of(orders).create({ book_id: 999_999, customer: 'ana', copies: 1 }),
    409,
    'conflict',
  ],
  'a value that breaks a rule': [
    ({ asService }, id) => asService.of(books).update(id, { stock: -1 }),
    422,
    'validation_error',
  ],
  'a right that the caller does not have': [({ of }, id) => of(books).update(id, { stock: 1 }), 403, 'forbidden'],
  'what the descriptor does not offer': [({ of }) => of(places).create({ name: 'Here' } as never), 403, 'forbidden'],
  'no such row': [({ asService }) => asService.of(books).update(999_999, { stock: 1 }), 404, 'not_found'],
  'no such row to delete': [({ asService }) => asService.of(books).delete(999_999), 404, 'not_found'],
  'a tag that is not the row’s': [
    ({ asService }, id) => asService.of(books).update(id, { stock: 1 }, { ifMatch: '"other"' }),
    412,
    'precondition_failed',
  ],
  'a row that others reference': [({ asService }, id) => asService.of(books).delete(id), 409, 'referenced'],
}
await newBook(1, { isbn: 'taken' })

for (const [title, [work, status, code]] of Object.entries(refusals)) {
  test(`${title}: the error is thrown, undoes that write alone when it is caught, and is the response when it is not`, async () => {
    const id = await newBook(5)
    await newOrder(id, 1)
    const caught = await value(async (context) => {
      await context.asService.of(books).update(id, { title: `Before ${id}` })
      const error: ApiError = (await work(context, id).catch((thrown) => thrown as never)) as never
      await context.asService.of(books).update(id, { stock: 6 })
      return [error instanceof ApiError, error.status, error.code]
    })
    assert.equal(caught, [true, status, code])
    const row = await rowOf(`books/${id}`)
    assert.equal([row.title, row.stock], [`Before ${id}`, 6])
    const response = await run(async (context) => {
      await context.asService.of(books).update(id, { stock: 7 })
      return work(context, id)
    })
    assert.equal(outcome(response), status === 422 ? [500, 'internal_error'] : [status, code])
    assert.not.match(response.text, /"loc"/)
    assert.is(await stockOf(id), 6)
  })
}

test('issues of values that are all unique or references are 409 with resource, field and type', async () => {
  const { body: sent } = await run(({ asService }) =>
    asService.of(books).create({ title: 'Twin', isbn: 'taken', stock: 1 }),
  )
  const [{ resource, field, type }] = sent.error.details.issues
  assert.equal({ resource, field, type }, { resource: 'books', field: 'isbn', type: 'unique' })
})

test('issues of other values are logged with the operation, the resource and the verb', async () => {
  const response = await run(({ asService }) => asService.of(books).create({ title: 'Twin', isbn: 'taken', stock: -1 }))
  assert.is(response.status, 500)
  assert.not.match(response.text, /stock|books/)
  const logged = await loggedOf(response)
  for (const part of ['run', 'books', 'create', 'stock', 'greater_than_equal'])
    assert.ok(logged.includes(part), `${part}: ${logged}`)
})

test('the handles of a caller have its rights: rows that it may not read do not exist', async () => {
  const id = await newBook(5, { cost: 3 })
  const [own, other] = [await newOrder(id, 1, 'ben'), await newOrder(id, 1, 'ana')]
  const got = await value(
    async ({ of, asService }) => ({
      own: (await of(orders).get(own))?.id,
      other: await of(orders).get(other),
      none: await of(orders).get(999_999),
      count: await of(orders).count({ book_id: id }),
      listed: (await of(orders).list({ book_id: id })).data.map((row) => row.id),
      all: await asService.of(orders).count({ book_id: id }),
      cost: (await of(books).get(id))?.cost,
      realCost: (await asService.of(books).get(id))?.cost,
    }),
    { caller: 'ben' },
  )
  const expected = { own, other: null, none: null, count: 1, listed: [own], all: 2, cost: null, realCost: 3 }
  assert.equal(got, expected)
})

test('what the caller may not do is 403, of a row that it may not read 404, and 401 for nobody', async () => {
  const id = await newBook(5)
  const [own, other] = [await newOrder(id, 1, 'ben'), await newOrder(id, 1, 'ana')]
  const cases: [Script, string | undefined, number, Call['with']?][] = [
    [({ of }) => of(orders).update(own, { status: 'cancelled' }), 'ben', 403],
    [({ of }) => of(orders).create({ book_id: id, copies: 1, customer: 'ana' }), 'ben', 403],
    [({ of }) => of(orders).create({ book_id: id, copies: 1, customer: 'ben' }), 'ben', 200],
    [({ of }) => of(orders).list({}), 'guest', 403],
    [({ of }) => of(orders).get(own), 'guest', 403],
    [({ of }) => of(orders).list({}), undefined, 401, 'read'],
    [({ of }) => of(books).get(id), undefined, 200, 'read'],
    [({ asService }) => asService.of(orders).update(other, { status: 'cancelled' }), 'ben', 200],
  ]
  for (const [script, caller, status, operation] of cases) {
    const response = await run(script, { caller, ...(operation && { with: operation }) })
    assert.is(response.status, status, `${script} as ${caller}: ${response.text}`)
  }
})

test('a parameter of a list that it does not have throws, and is logged', async () => {
  const wrong: object[] = [
    { nope: 1 },
    { title: 'x' },
    { 'stock.like': 1 },
    { sort: 'isbn' },
    { sort: 'nope' },
    { stock: 'many' },
    { limit: 0 },
    { limit: 201 },
    { expand: 'isbn' },
    { status: 'gone' },
  ]
  for (const query of wrong) {
    const caught = await value(async ({ asService }) => {
      const list = await asService
        .of(books)
        .list(query as never)
        .catch((error) => error)
      const count =
        'sort' in query || 'limit' in query || 'expand' in query || asService.of(books).count(query as never)
      const counted = await Promise.resolve(count).catch((error) => error)
      return [list instanceof TypeError, counted === true || counted instanceof TypeError, String(list?.message)]
    })
    assert.equal(caught.slice(0, 2), [true, true], `${JSON.stringify(query)} ${caught[2]}`)
  }
  const response = await run(({ of }) => of(books).list({ nope: 1 } as never))
  assert.equal(outcome(response), [500, 'internal_error'])
  assert.not.match(response.text, /nope/)
  assert.match(await loggedOf(response), /nope/)
})

test('a field that the resource does not have, or that the service sets, is refused in every write', async () => {
  const id = await newBook(5)
  for (const values of [{ nope: 1 }, { made: 'now' }, { id: 7 }]) {
    for (const work of [
      ({ asService }: Context) => asService.of(books).create({ title: 'x', stock: 1, ...values } as never),
      ({ asService }: Context) => asService.of(books).update(id, values as never),
    ])
      assert.is((await run(work)).status, 500, JSON.stringify(values))
  }
})

test('lists have the parameters of the API', async () => {
  const title = 'Lists'
  for (const stock of [1, 2, 3, 4]) await newBook(stock * 1_000, { title })
  const got = await value(async ({ of }) => {
    const rows = of(books)
    return [
      (await rows.list({ 'stock.gte': 2_000, 'stock.lt': 4_000, sort: '-stock', limit: 10 })).data.map(
        (row) => row.stock,
      ),
      (await rows.list({ q: title, sort: 'stock', limit: 1, offset: 2 })).data.map((row) => row.stock),
      (await rows.list({ 'stock.in': [1_000, 4_000], sort: 'stock' })).meta,
      await rows.count({ 'stock.gte': 1_000 }),
      await rows.count({ q: title, stock: 1_000 }),
    ]
  })
  assert.equal(got, [[3_000, 2_000], [3_000], { total: 2, limit: 50, offset: 0 }, 4, 1])
})

test('rows and tags are those that the API sends to the caller', async () => {
  const id = await newBook(5, { cost: 3 })
  for (const caller of ['clerk', 'owner']) {
    const api = await request('GET', `books/${id}`, undefined, { authorization: `Bearer ${caller}` })
    const got = await value(
      async ({ of, asService }) => {
        const row = await of(books).get(id)
        const listed = (await of(books).list({ stock: 5, limit: 200 })).data.find((one) => one.id === id)
        // Nothing changes, but the row is returned.
        const updated = await asService.of(books).update(id, { stock: 5 })
        return { row, listed, updated, tag: row && of(books).tag(row) }
      },
      { caller },
    )
    assert.equal([got.row, got.listed, got.tag], [api.body, api.body, api.headers.etag])
    assert.is(got.updated.cost, 3)
  }
})

test('a create returns the whole new row, and a delete nothing', async () => {
  const got = await value(async ({ asService }) => {
    const row = await asService.of(books).create({ title: 'Whole', stock: 2 })
    const deleted = await asService.of(books).delete(row.id)
    return { row, deleted: deleted === undefined, after: await asService.of(books).get(row.id) }
  })
  assert.equal(
    [got.row.title, got.row.isbn, typeof got.row.made, got.deleted, got.after],
    ['Whole', null, 'string', true, null],
  )
})

test('If-Match of the request is given, and passed on', async () => {
  const id = await newBook(5)
  const { headers } = await request('GET', `books/${id}`)
  const tag = String(headers.etag)
  const seen: unknown[] = []
  const script: Script = async ({ ifMatch, asService }) => {
    seen.push(ifMatch)
    return asService.of(books).update(id, { stock: 6 }, ifMatch ? { ifMatch } : {})
  }
  assert.is((await run(script, { headers: { 'if-match': tag } })).status, 200)
  const stale = await run(script, { headers: { 'if-match': `"x", ${tag}` } })
  assert.equal(outcome(stale), [412, 'precondition_failed'])
  assert.is((await run(script)).status, 200)
  assert.equal([seen[0], seen.at(-1)], [[tag], undefined])
  assert.ok(Array.isArray(seen[1]) && seen[1].length === 2)
  const own = await value(async ({ of, asService }) => {
    const row = await of(books).get(id)
    if (!row) return null
    const first = await asService.of(books).update(id, { stock: 8 }, { ifMatch: of(books).tag(row) })
    const error = await asService
      .of(books)
      .update(id, { stock: 9 }, { ifMatch: of(books).tag(row) })
      .catch((thrown) => thrown)
    return [first.stock, error.status]
  })
  assert.equal(own, [8, 412])
})

test('the service writes what the descriptor does not offer, with every rule of values', async () => {
  const got = await value(async ({ asService }) => {
    const place = await asService.of(places).create({ name: 'Here', seats: 1 })
    const changed = await asService.of(places).update(place.id, { seats: 2 })
    const high = await asService
      .of(places)
      .update(place.id, { seats: 11 })
      .catch((error) => error.status)
    const twin = await asService
      .of(places)
      .create({ name: 'Here' })
      .catch((error) => error.status)
    const managed = await asService
      .of(places)
      .update(place.id, { made: 'x' } as never)
      .catch((error) => error.status)
    await asService.of(places).delete(place.id)
    return [changed.seats, high, twin, managed, await asService.of(places).count({ name: 'Here' })]
  })
  assert.equal(got, [2, 422, 409, 422, 0])
  const id = await newBook(5)
  const order = await newOrder(id, 1)
  const update = (copies: number, status?: 'open') => (context: Context) =>
    context.asService.of(orders).update(order, { copies, ...(status && { status }) })
  assert.is((await value(update(3))).copies, 3)
  // A caller may only change what is in update, and a step that the status does not have is one for nobody.
  assert.is.not((await run(({ of }) => of(orders).update(order, { copies: 4 } as never))).status, 200)
  await request('PATCH', `orders/${order}`, { status: 'shipped' })
  assert.is((await run(update(3, 'open'))).status, 500)
  assert.is((await rowOf(`orders/${order}`)).copies, 3)
})

test('parameters that are no id find no row', async () => {
  for (const id of ['x', '', 'NaN', '1.5', Number.NaN, -1, 2 ** 60])
    assert.is(await value(({ of }) => of(books).get(id)), null, String(id))
  assert.equal(outcome(await run(ship(Number.NaN))), [404, 'not_found'])
})

test('of() takes descriptors of the project only', async () => {
  const other = defineResource({ ...places, table: 'elsewhere' } as never)
  assert.equal(outcome(await run(({ of }) => of(other).get(1))), [500, 'internal_error'])
})

test('totals and tags of the API follow an operation at once', async () => {
  const before = await request('GET', 'books?limit=1')
  await value(({ asService }) => asService.of(books).create({ title: 'Fresh', stock: 1 }))
  const after = await request('GET', 'books?limit=1')
  assert.is(after.body.meta.total, before.body.meta.total + 1)
  assert.is.not(after.headers.etag, before.headers.etag)
  await run(async ({ asService }) => {
    await asService.of(books).create({ title: 'Undone', stock: 1 })
    throw new ApiError(409, 'no', 'No.')
  })
  assert.is((await request('GET', 'books?limit=1')).body.meta.total, after.body.meta.total)
  assert.is((await service.rows(bookRows)).length, after.body.meta.total)
  assert.is((await service.rows(orderRows)).length, (await rowOf('orders?limit=1')).meta.total)
})

test.run()
