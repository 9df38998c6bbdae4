/** Searches and filters in a large table, with few and many matches, compared with the oracle. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource, RowValues } from '../../engine/descriptor/registry.js'
import { Oracle } from '../../support/oracle.js'
import { sharedDatabase } from '../support/database.js'
import { expectedList } from '../support/expectedList.js'
import { listQuery } from '../support/listQuery.js'
import { office, startOffice } from '../support/office.js'
import { followPages, type TestResponse } from '../support/service.js'

const otherProgram = await sharedDatabase()
const client = await startOffice({ url: otherProgram.url })
const { get } = client
const employees = office.find(({ path }) => path === 'employees') as Resource

const count = 30_000
// Groups of sizes around the limit for small results, consecutive (by n) and scattered (by place; 7,919 is coprime to the count).
await otherProgram.run(`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${count - 1}),
    places(n, place) as (select n, n * 7919 % ${count} from numbers)
  insert into employees (code, first_name, branch, candidate_id, status, alumni) select 'LOT-' || n,
    case when place < 1 then 'Only' when place < 200 then 'Some' when place < 400 then 'Few*'
      when place < 601 then 'More' else 'Many' end,
    case when place % 5 = 0 then 'Łódź_100%' else 'Ulm' end,
    case when n < 1 then 1 when n < 200 then 2 when n < 400 then 3 when n < 601 then 4 when n < 1625 then 7 when n < 9000 then 5 end,
    case when n % 3 = 0 then 'Dormant' else 'Active' end, 0
  from places`)
const oracle = new Oracle()
oracle.add(employees, (await otherProgram.run('select * from employees order by id')) as RowValues[])

const checkList = async (query: string): Promise<void> => {
  const expected = expectedList(oracle, employees, new URLSearchParams(`limit=20&${query}`))
  const { status, body } = await get(`/v1/employees?limit=20&${query}`)
  assert.is(status, 200, query)
  const found = body.data.map(({ id }: RowValues) => id)
  const ids = expected.data.map(({ id }) => id)
  assert.equal([body.meta.total, found], [expected.total, ids], query)
}

// biome-ignore format: one list
const texts = [
  'only', 'SOME', 'few*', 'More', 'many', 'lot-12345', 'LOT-29999 many', 'lot-1', 'łódź_100%', 'ŁÓDŹ', 'ulm dormant',
  'some ulm', 'only łódź', '*', '%', 'zq', 'nowhere', 'lot-12345 nowhere', 'a'.repeat(1_200), 'LOT-77 many ulm act',
]
const filters = [
  ...['', 'status=Dormant', 'candidate_id=3&status=Dormant', 'candidate_id=5&status=Active&dept_id=1'],
  ...[1, 2, 3, 4, 5, 6, 7, 987_654].map((id) => `candidate_id=${id}`),
]

const test = suite('a large table')

for (const q of ['', ...texts]) {
  test(`${q === '' ? 'no search' : `"${q.slice(0, 20)}"`} with every filter, at the same time`, async () => {
    await Promise.all(filters.map((filter) => checkList(`q=${encodeURIComponent(q)}&${filter}`)))
  })
}

test('every page of a result', async () => {
  for (const query of ['q=few*', 'q=more', 'candidate_id=3', 'candidate_id=4']) {
    for (const offset of [0, 1, 150, 199, 200, 201, 5_000]) await checkList(`${query}&offset=${offset}&limit=50`)
  }
})

for (const { q = '', ...filters } of [{ q: 'more' }, { q: 'lot', status: 'Dormant' }, { candidate_id: 7n }]) {
  const query = new URLSearchParams({ q, ...filters, limit: '100' } as Record<string, string>)
  test(`the pages of ${query} by their links, in both directions`, async () => {
    const expected = oracle.matching(employees, listQuery({ q, filters })).map(({ id }) => id)
    for (const sort of ['id', '-id']) {
      const totals = new Set<number>()
      const onPage = ({ body }: TestResponse) => totals.add(body.meta.total)
      const rows = await followPages(client, `/api/v1/employees?${query}&sort=${sort}`, { onPage })
      const ids = rows.map(({ id }) => id)
      assert.equal(sort === 'id' ? ids : ids.reverse(), expected)
      assert.equal([...totals], [expected.length])
    }
  })
}

test.run()
