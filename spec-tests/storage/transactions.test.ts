/** Transactions of several steps: all or nothing, as if they ran one after another, and with a limit of time. */
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { defaultListQuery } from '../../engine/descriptor/listQuery.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { defaultSummaryQuery } from '../../engine/descriptor/summary.js'
import { TransactionTimedOut, Unavailable } from '../../engine/storage/failures.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Storage, Table, Transaction } from '../../engine/storage/storage.js'
import type { Outcome } from '../../engine/storage/writeData.js'
import { storageOptions } from '../../support/storageOptions.js'
import { runOn, server, sharedDatabase, whileLockedIn } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { resourceIn } from '../support/registryFrom.js'

const all = { create: true, update: true, delete: true } as const
const authors = resourceIn('authors', { name: text({ unique: true }) }, all)
const books = resourceIn(
  'books',
  {
    title: text({ sort: true }),
    author_id: integer({ references: 'authors', filter: true }),
    stock: integer({ range: true, sort: true }),
  },
  all,
)
const loans = resourceIn('loans', { book_id: integer({ references: 'books', onDelete: 'cascade', filter: true }) }, all)
const registry: Registry = [authors, books, loans]
const limit = { timeoutMs: 20_000 }

const insert = (table: Table, values: RowValues): Promise<Outcome> => table.write({ kind: 'insert', values })
const update = (table: Table, id: string, values: RowValues): Promise<Outcome> =>
  table.write({ kind: 'update', id, values, stamps: {} })
const remove = (table: Table, id: string): Promise<Outcome> => table.write({ kind: 'delete', id })
const create = async (table: Table, values: RowValues): Promise<string> => {
  const outcome = await insert(table, values)
  if (!('id' in outcome)) throw new Error(JSON.stringify(outcome))
  return outcome.id
}
const book = { title: 'One', author_id: null, stock: 0 }
const rowOf = async (table: Table, id: string): Promise<RowValues | undefined> => {
  const row = await table.get(id)
  return row && JSON.parse(String(row.body))
}
const stockOf = async (table: Table, id: string): Promise<unknown> => (await rowOf(table, id))?.['stock']
const dataOf = async (table: Table, query = listQuery()): Promise<RowValues[]> => {
  const chunks: Uint8Array[] = []
  const { body } = await table.list(query)
  if (Buffer.isBuffer(body)) chunks.push(body)
  else for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return JSON.parse(String(Buffer.concat(chunks))).data
}
const totalOf = async (storage: Storage, resource: Resource): Promise<number> =>
  (await storage.counts([resource])).get(resource) as number
const errorOf = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not fail.')
}

const opened: Storage[] = []
const open = async (options: Partial<typeof storageOptions> = {}, url?: string): Promise<Storage> => {
  const storage = await openStorage(registry, url ?? (await sharedDatabase()).url, { ...storageOptions, ...options })
  opened.push(storage)
  return storage
}
const newBook = (storage: Storage): Promise<string> => create(storage.table(books), book)
const increment = (storage: Storage, id: string): Promise<void> =>
  storage.transaction(async ({ table }) => {
    const own = table(books)
    const stock = await stockOf(own, id)
    await setTimeout(1)
    await update(own, id, { stock: Number(stock) + 1 })
  }, limit)

const test = suite('transactions')
let storage: Storage
test.before(async () => {
  storage = await open()
})
test.after(async () => {
  for (const one of opened) await one.close()
})

test('a transaction sees its own writes, others do not before it has ended', async () => {
  const id = await storage.transaction(async ({ table }) => {
    const made = await create(table(books), book)
    await update(table(books), made, { stock: 3 })
    assert.is(await stockOf(table(books), made), 3)
    assert.is(await rowOf(storage.table(books), made), undefined)
    return made
  }, limit)
  assert.is(await stockOf(storage.table(books), id), 3)
})

test('a transaction without a limit of time is stored too', async () => {
  const id = await storage.transaction(({ table }) => create(table(books), { ...book, stock: 5 }), {
    timeoutMs: Number.POSITIVE_INFINITY,
  })
  assert.is(await stockOf(storage.table(books), id), 5)
})

test('a transaction that throws changes nothing, and its error is the caller’s', async () => {
  const id = await newBook(storage)
  const before = await totalOf(storage, books)
  const work = async ({ table, batch }: Transaction) => {
    await update(table(books), id, { stock: 7 })
    await create(table(books), book)
    await batch({ writes: [{ resource: books, write: { kind: 'insert', values: book } }] })
    throw new RangeError('no')
  }
  const error = await errorOf(storage.transaction(work, limit))
  assert.equal([error.constructor, error.message], [RangeError, 'no'])
  assert.is(await stockOf(storage.table(books), id), 0)
  assert.is(await totalOf(storage, books), before)
})

test('undoable work that throws undoes itself alone', async () => {
  const id = await newBook(storage)
  const seen = await storage.transaction(async ({ table, undoable }) => {
    const own = table(books)
    const stocks: unknown[] = []
    await update(own, id, { stock: 1 })
    await undoable(async () => {
      await update(own, id, { stock: 2 })
      await undoable(async () => {
        await update(own, id, { stock: 3 })
        throw new Error('inner')
      }).catch(() => {})
      stocks.push(await stockOf(own, id))
      await undoable(() => update(own, id, { stock: 4 }))
      stocks.push(await stockOf(own, id))
      throw new Error('outer')
    }).catch(() => {})
    stocks.push(await stockOf(own, id))
    return stocks
  }, limit)
  assert.equal(seen, [2, 4, 1])
  assert.is(await stockOf(storage.table(books), id), 1)
})

for (const clients of [20, 64]) {
  test(`${clients} transactions at once that read and then change one row lose nothing`, async () => {
    const id = await newBook(storage)
    await Promise.all(Array.from({ length: clients }, () => increment(storage, id)))
    assert.is(await stockOf(storage.table(books), id), clients)
  })
}

test('transactions in two processes that change one row lose nothing', async () => {
  const { url } = await sharedDatabase()
  const both = [await open({}, url), await open({}, url)] as const
  const id = await newBook(both[0])
  await Promise.all(Array.from({ length: 20 }, (_, n) => increment(both[n % 2] as Storage, id)))
  assert.is(await stockOf(both[1].table(books), id), 20)
})

test('ordinary writes run between and beside transactions', async () => {
  const id = await newBook(storage)
  const writes = Array.from({ length: 10 }, () => [increment(storage, id), newBook(storage)])
  await Promise.all(writes.flat())
  assert.is(await stockOf(storage.table(books), id), 10)
})

for (const size of [4, 1]) {
  test(`one that hangs is undone after its time, and others are served meanwhile, with ${size} connections`, async () => {
    const own = await open({ pool: { ...storageOptions.pool, size } })
    const id = await newBook(own)
    let held: Transaction | undefined
    const hanging = own.transaction(
      async (transaction) => {
        held = transaction
        await update(transaction.table(books), id, { stock: 9 })
        await new Promise(() => {})
      },
      { timeoutMs: 500 },
    )
    const failed = errorOf(hanging)
    await setTimeout(100)
    assert.is(await stockOf(own.table(books), id), 0)
    assert.is((await dataOf(own.table(books))).length, 1)
    assert.instance(await failed, TransactionTimedOut)
    assert.instance(await errorOf((held as Transaction).table(books).get(id)), TransactionTimedOut)
    await increment(own, id)
    await update(own.table(books), id, { stock: 5 })
    assert.is(await stockOf(own.table(books), id), 5)
  })
}

test('a thread that stands still past the limit does not commit', async () => {
  const id = await newBook(storage)
  const work = async ({ table }: Transaction) => {
    await update(table(books), id, { stock: 9 })
    const until = performance.now() + 600
    while (performance.now() < until);
  }
  assert.instance(await errorOf(storage.transaction(work, { timeoutMs: 300 })), TransactionTimedOut)
  assert.is(await stockOf(storage.table(books), id), 0)
})

test('a transaction cannot be used after its end', async () => {
  let held: Transaction | undefined
  let table: Table | undefined
  await storage.transaction(async (transaction) => {
    held = transaction
    table = transaction.table(books)
  }, limit)
  for (const use of [
    () => (held as Transaction).table(books).get('1'),
    () => (table as Table).write({ kind: 'insert', values: book }),
    () => (held as Transaction).undoable(async () => {}),
    () => (held as Transaction).storeKey({ key: 'late', digest: '' }, Buffer.from('{}')),
  ])
    assert.match((await errorOf(use())).message, 'has ended')
})

test('steps that nobody awaits do not change anything after the end', async () => {
  const id = await newBook(storage)
  let late: Promise<unknown> = Promise.resolve()
  await storage.transaction(async ({ table }) => {
    late = Promise.all([1, 2, 3].map((stock) => update(table(books), id, { stock }))).catch(() => {})
    await setTimeout(1)
  }, limit)
  await late
  assert.ok(Number(await stockOf(storage.table(books), id)) < 4)
})

test('a refused write is undone, and the transaction goes on', async () => {
  await create(storage.table(authors), { name: 'Taken' })
  const outcomes = await storage.transaction(async ({ table, batch }) => {
    const author = await create(table(authors), { name: 'Ada' })
    const own = await create(table(books), { ...book, author_id: Number(author) })
    const refused = [
      await insert(table(authors), { name: 'Taken' }),
      await insert(table(books), { ...book, author_id: 999_999 }),
      await remove(table(authors), author),
      await update(table(books), '999999', { stock: 1 }),
      await batch({
        writes: [
          { resource: authors, write: { kind: 'insert', values: { name: 'First' } } },
          { resource: authors, write: { kind: 'insert', values: { name: 'Ada' } } },
        ],
      }),
    ]
    await update(table(books), own, { stock: 8 })
    return refused
  }, limit)
  assert.equal(outcomes.slice(0, 2), [
    { conflicts: [{ type: 'unique', field: 'name' }] },
    { conflicts: [{ type: 'reference', field: 'author_id' }] },
  ])
  assert.ok('referencing' in (outcomes[2] as object))
  assert.equal(outcomes[3], { isMissing: true })
  assert.is((outcomes[4] as { operation: number }).operation, 1)
  const names = (await dataOf(storage.table(authors))).map(({ name }) => name)
  assert.ok(names.includes('Ada') && !names.includes('First'))
})

test('of two that store the same unique value at once, one finds the conflict', async () => {
  const outcomes = await Promise.all(
    [1, 2, 3].map(() =>
      storage.transaction(async ({ table }) => {
        const outcome = await insert(table(authors), { name: 'Same' })
        await setTimeout(20)
        return 'id' in outcome ? 'stored' : 'conflicts' in outcome ? 'conflict' : outcome
      }, limit),
    ),
  )
  assert.equal(outcomes.sort(), ['conflict', 'conflict', 'stored'])
})

test('a delete follows its references', async () => {
  const id = await newBook(storage)
  const loan = await create(storage.table(loans), { book_id: Number(id) })
  await storage.transaction(async ({ table }) => {
    assert.ok('id' in (await remove(table(books), id)))
    assert.is(await table(loans).get(loan), undefined)
    assert.equal(await remove(table(books), id), { isMissing: true })
  }, limit)
  assert.is(await storage.table(loans).get(loan), undefined)
})

test('lists search, filter, sort and expand what the transaction has written', async () => {
  const found = await storage.transaction(async ({ table }) => {
    const author = await create(table(authors), { name: 'Writer' })
    for (const stock of [1, 2, 3]) await create(table(books), { title: 'Needle', author_id: Number(author), stock })
    const query = {
      ...listQuery({ q: 'needle', filters: { author_id: Number(author) } }),
      order: { ...defaultListQuery.order, field: 'stock', descending: true },
    }
    const rows = await dataOf(table(books, ['author_id']), query)
    const { body } = await table(books).summary({ ...defaultSummaryQuery, where: query.where, sum: ['stock'] })
    assert.match(String(body), ':6')
    return rows
  }, limit)
  assert.equal(
    found.map(({ stock }) => stock),
    [3, 2, 1],
  )
  assert.is((found[0] as never as { expanded: { author_id: RowValues } }).expanded.author_id['name'], 'Writer')
})

test('imports store all of their rows or none', async () => {
  const created = new Set<string>()
  const rows = [1, 2, 3].map((stock) => ({ kind: 'insert' as const, values: { ...book, title: 'Imported', stock } }))
  const wrong = [...rows, { kind: 'insert' as const, values: { ...book, author_id: 999_999 } }]
  const outcomes = await storage.transaction(
    async ({ table }) => [
      await table(books).import({ rows, mode: 'dryRun', created }),
      await table(books).import({ rows: wrong, mode: 'store', created }),
      await table(books).import({ rows, mode: 'store', created }),
    ],
    limit,
  )
  assert.equal(
    outcomes.map((outcome) => Object.keys(outcome).includes('body')),
    [true, false, true],
  )
  assert.is((await dataOf(storage.table(books), listQuery({ q: 'imported' }))).length, 3)
})

test('a key is stored with the transaction, and found in it and after it', async () => {
  const given = { key: 'key of a test', digest: 'digest' }
  const run = (fails: boolean) =>
    storage.transaction(async ({ table, storeKey }) => {
      const earlier = await table(books).earlierWrite(given.key)
      if (earlier) return String(earlier.body)
      await create(table(books), { ...book, title: 'Keyed' })
      await storeKey(given, Buffer.from('{"a":1}'))
      assert.is(String((await table(books).earlierWrite(given.key))?.body), '{"a":1}')
      if (fails) throw new Error('undone')
      return 'stored'
    }, limit)
  await errorOf(run(true))
  assert.is(await storage.table(books).earlierWrite(given.key), undefined)
  assert.equal((await Promise.all([run(false), run(false), run(false)])).sort(), ['stored', '{"a":1}', '{"a":1}'])
  assert.equal(await storage.table(books).earlierWrite(given.key), {
    digest: 'digest',
    body: Buffer.from('{"a":1}'),
  })
  assert.is((await dataOf(storage.table(books), listQuery({ q: 'keyed' }))).length, 1)
})

test('closing waits for the transaction that runs', async () => {
  const { url } = await sharedDatabase()
  const own = await openStorage(registry, url, storageOptions)
  const running = own.transaction(async ({ table }) => {
    await setTimeout(200)
    return create(table(books), book)
  }, limit)
  await setTimeout(50)
  await own.close()
  const again = await open({}, url)
  assert.is(await stockOf(again.table(books), await running), 0)
})

test('what a constraint of another program refuses is an outcome, and the transaction goes on', async () => {
  const { url, run } = await sharedDatabase()
  const own = await open({}, url)
  await run('create unique index of_another_program on books (title)')
  const id = await newBook(own)
  await own.transaction(async ({ table }) => {
    const outcome = await insert(table(books), book)
    assert.ok('refused' in outcome, JSON.stringify(outcome))
    await update(table(books), id, { stock: 1 })
  }, limit)
  assert.is(await stockOf(own.table(books), id), 1)
  assert.is(await totalOf(own, books), 1)
})

if (!server)
  test('a thread that dies before the commit leaves nothing behind', async () => {
    const id = await newBook(storage)
    const post = Worker.prototype.postMessage
    let writer: Worker | undefined
    Worker.prototype.postMessage = function (this: Worker, message, ...rest) {
      if ('port' in message.message) writer = this
      return post.call(this, message, ...(rest as []))
    }
    const error = await errorOf(
      storage.transaction(async ({ table }) => {
        await update(table(books), id, { stock: 9 })
        await writer?.terminate()
        await update(table(books), id, { stock: 10 })
      }, limit),
    )
    Worker.prototype.postMessage = post
    assert.instance(error, Unavailable)
    await increment(storage, id)
    assert.is(await stockOf(storage.table(books), id), 1)
  })

if (server)
  test('a statement that still runs when the time is over is cancelled', async () => {
    const { url } = await sharedDatabase()
    const own = await open({}, url)
    const id = await newBook(own)
    const error = await whileLockedIn(url, 'books in exclusive mode', async () => {
      const work = ({ table }: Transaction) => update(table(books), id, { stock: 1 })
      const failed = await errorOf(own.transaction(work, { timeoutMs: 300 }))
      const waiting = await runOn(url, `select 1 from pg_stat_activity where wait_event_type = 'Lock'`)
      assert.is(waiting.length, 0)
      return failed
    })
    assert.instance(error, TransactionTimedOut)
    await increment(own, id)
    assert.is(await stockOf(own.table(books), id), 1)
  })

if (server)
  test('a transaction whose connection is cut off runs again', async () => {
    const { url, run } = await sharedDatabase()
    const own = await open({}, url)
    const id = await newBook(own)
    let attempts = 0
    await own.transaction(async ({ table }) => {
      attempts++
      await update(table(books), id, { stock: Number(await stockOf(table(books), id)) + 1 })
      if (attempts === 1)
        await run(`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`)
    }, limit)
    assert.equal([attempts, await stockOf(own.table(books), id)], [2, 1])
  })

test.run()
