/** The figures of pages are those of the API, of every kind of field, in tables of many rows, and for everyone who may see them. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { boolean, date, decimal, integer, number, text, timestamp, uuid } from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { sessionOf, startService } from '../support/service.js'

const test = suite('figures')

const rowCount = 20_000
const dayMs = 86_400_000
const isoDay = (n: number) => new Date(Date.UTC(1900, 0, 1) + n * dayMs).toISOString()

const measures = resourceIn(
  'measures',
  {
    owner: integer({ filter: true }),
    whole: integer({ range: true }),
    share: number({ range: true }),
    price: decimal({ digits: 12, places: 2, range: true }),
    fee: decimal({ digits: 4, places: 2, range: true }),
    exact: decimal({ digits: 18, places: 4, range: true }),
    same: integer({ range: true }),
    born: date({ range: true }),
    until: date({ range: true }),
    at: timestamp({ range: true }),
    noted: text({ format: 'date', range: true }),
    done: boolean({ filter: true }),
    state: text({ oneOf: ['open', 'closed', 'lost'], filter: true }),
    parent_id: integer({ references: 'measures', filter: true }),
    secret: integer({ range: true, readBy: ['chief'] }),
  },
  { name: 'Measure', plural: 'Measures', summary: true, access: { read: ['chief', { owner: claim('owner') }] } },
)

const makeRow = (n: number): RowValues => ({
  id: n + 1,
  owner: n % 5,
  whole: n * 7 - 90_000,
  share: n / 7,
  // Most values occur once, and the greatest is not among the first.
  price: `${(n * 37) % 99_991}.${String(n % 100).padStart(2, '0')}`,
  fee: n % 100 === 99 ? '99.99' : `${n % 100}.${String(n % 90).padStart(2, '0')}`,
  exact: `${n % 2 ? '' : '-'}12345678901234.${String(n % 10_000).padStart(4, '0')}`,
  same: 3,
  born: n % 11 === 0 ? null : isoDay(n).slice(0, 10),
  until: n % 3 ? '9999-12-31' : isoDay(n % 5_000).slice(0, 10),
  at: new Date(Date.UTC(2020, 0, 1) + n * 1_234_567).toISOString(),
  noted: n % 4 === 0 ? '' : n % 4 === 1 ? 'unknown' : isoDay(n % 15_000).slice(0, 10),
  done: n % 3 === 0,
  state: ['open', 'closed', 'lost'][n % 7 === 0 ? 2 : n % 2] as string,
  parent_id: n < 20 ? null : 1 + (n % 17),
  secret: n,
})

const many = resourceIn(
  'many',
  { size: integer({ range: true }), done: boolean({ filter: true }) },
  { name: 'One', plural: 'Many' },
)

const callers = { chief: { roles: ['chief'] }, ana: { roles: [], claims: { owner: 3 } } }
const service = await startService({
  registry: [measures, many],
  explorer: true,
  credentials: callersNamed(callers),
})
await service.fill([{ resource: measures, rows: Array.from({ length: rowCount }, (_, n) => makeRow(n)) }])

const numberIn = (text: string): number => Number(text.replaceAll(',', ''))
const unescaped = (url: string): string => url.replaceAll('&amp;', '&')

for (const name of ['chief', 'ana']) {
  const authorization = `Bearer ${name}`
  const filtersPage = async (query = '') => {
    const request = { headers: { cookie: await sessionOf(service.address, name) } }
    let page = ''
    // A page without charts says that counting took too long, as it may on a busy machine.
    for (let attempt = 0; attempt < 5 && !page.includes('<figure'); attempt++)
      page = (await service.send(`/explore/measures/filters${query}`, request)).text
    return { charts: page.slice(page.indexOf('id="charts"'), page.indexOf('id="filters"')), page }
  }
  const read = async (path: string) => (await service.send(path, { headers: { authorization } })).body
  const countOf = async (link: string) => (await read(unescaped(link).replace('/explore/', '/api/v1/'))).meta.total

  for (const query of ['', '?done=true']) {
    test(`${name} sees in every bar of a chart${query} as many rows as its link finds, and no row is missing`, async () => {
      const { charts } = await filtersPage(query)
      const figures = charts.split('<figure').slice(1)
      const shown = new Map<string, number>()
      for (const figure of figures) {
        const bars = [...figure.matchAll(/<a href="([^"]*)"[^>]*aria-label="([^"]*): ([\d,]+)"/g)]
        for (const [, link = '', title, rows = ''] of bars) {
          assert.is(numberIn(rows), await countOf(link), `${title} ${link}`)
          const field = /[?&](\w+)\.(?:gte|lte|lt)=/.exec(unescaped(link))?.[1] ?? ''
          shown.set(field, (shown.get(field) ?? 0) + numberIn(rows))
        }
      }
      const { meta } = await read(`/api/v1/measures${query || '?'}&limit=1`)
      const born = (await read(`/api/v1/measures${query || '?'}&limit=1&born.gte=0001-01-01`)).meta.total
      const noted = (await read(`/api/v1/measures${query || '?'}&limit=1&noted.gte=1&noted.lt=3`)).meta.total
      const all = meta.total
      const expected = { whole: all, share: all, price: all, fee: all, born, until: all, at: all, noted }
      assert.equal(Object.fromEntries(shown), name === 'chief' ? { ...expected, secret: all } : expected)
    })

    test(`${name} sees the least and the greatest value below a chart${query}`, async () => {
      const { charts } = await filtersPage(query)
      const names = ['whole', 'price', 'fee']
      const ends = ['min', 'max'].map((end) => names.map((field) => `${end}=${field}`).join('&')).join('&')
      const { data } = await read(`/api/v1/measures/summary${query || '?'}&${ends}`)
      for (const field of names) {
        const [, found = ''] =
          new RegExp(`<figcaption>${field}</figcaption>.*?class="ends">(.*?)</p>`, 'is').exec(charts) ?? []
        const texts = [...found.matchAll(/<span>([^<]*)<\/span>/g)].map(([, text = '']) => numberIn(text))
        assert.equal(texts, [Number(data[0].min[field]), Number(data[0].max[field])], field)
      }
    })
  }

  test(`${name} sees beside every value of a filter as many rows as its link finds`, async () => {
    const { page } = await filtersPage()
    const values = [...page.matchAll(/<li><a href="([^"]*)">.*?<span class="figure">([\d,]+)<\/span>/g)]
    for (const [, link = '', rows = ''] of values) assert.is(numberIn(rows), await countOf(link), link)
    const fields = new Set(values.map(([, link = '']) => /\?(\w+)=/.exec(link)?.[1]))
    assert.equal([...fields], ['owner', 'done', 'state', 'parent_id'])
  })
}

test('figures of more rows than are counted say what they are based on', async () => {
  const rows = Array.from({ length: 100_200 }, (_, n) => ({ id: n + 1, size: n, done: n % 2 === 0 }))
  await service.fill([{ resource: many, rows }])
  const { text: page } = await service.send('/explore/many/filters')
  const parts = [
    page.slice(page.indexOf('id="charts"'), page.indexOf('id="filters"')),
    page.slice(page.indexOf('id="filters"')),
  ]
  for (const part of parts) {
    assert.match(part, 'Only 100,000 of 100,200 rows are counted.')
    assert.match(part, '≥ ')
  }
  assert.match(page, 'class="figure">≥ 50,000<')
})

const codeOf = (n: number) => `C${String(n).padStart(3, '0')}`
const uuidOf = (n: number) => `0190d8a1-6f2e-7c3a-9b1d-${String(n).padStart(12, '0')}`
const lands = resourceIn('lands', { name: text() }, { name: 'Land', plural: 'Lands', id: 'text' })
const teams = resourceIn('teams', { name: text() }, { name: 'Team', plural: 'Teams', id: 'uuid' })
const staff = resourceIn(
  'staff',
  {
    name: text(),
    land: text({ references: 'lands', filter: true }),
    second_land: text({ references: 'lands' }),
    team_id: uuid({ references: 'teams', filter: true }),
    other_team_id: uuid({ references: 'teams' }),
    boss_id: integer({ references: 'staff' }),
  },
  { name: 'Person', plural: 'Staff', update: true, delete: true },
)

test('a reference has the name of its row and a link to it on every page, whatever its ids and however many there are', async () => {
  const numbers = Array.from({ length: 40 }, (_, n) => n + 1)
  const named = await startService({ registry: [lands, teams, staff], explorer: true })
  await named.fill([
    { resource: lands, rows: numbers.map((n) => ({ id: codeOf(n), name: `Land ${n}` })) },
    { resource: teams, rows: numbers.map((n) => ({ id: uuidOf(n), name: `Team ${n}` })) },
    {
      resource: staff,
      rows: numbers.map((n) => ({
        id: n,
        name: `Person ${n}`,
        land: codeOf(n),
        second_land: codeOf(41 - n),
        team_id: uuidOf(n),
        other_team_id: uuidOf(41 - n),
        boss_id: n === 1 ? null : n - 1,
      })),
    },
  ])
  const headers = { cookie: await sessionOf(named.address) }
  const pageOf = async (path: string) => (await named.send(path, { headers })).text
  const table = await pageOf('/explore/staff?limit=50')
  const found = await pageOf('/explore/staff?limit=50&q=person')
  const rows = await Promise.all([1, 25, 40].map(async (n) => [n, await pageOf(`/explore/staff/${n}`)] as const))
  const link = (path: string, id: string, name: string) => `<a href="/explore/${path}/${id}"><bdi>${name}</bdi></a>`
  const textLink = (n: number) => link('lands/rows', codeOf(n), `Land ${n}`)
  const uuidLink = (n: number) => link('teams', uuidOf(n), `Team ${n}`)
  const bossLink = (n: number) => link('staff', String(n), `Person ${n}`)
  const pages = [...numbers.flatMap((n) => [[n, table] as const, [n, found] as const]), ...rows]
  for (const [n, html] of pages) {
    for (const expected of [textLink(n), textLink(41 - n), uuidLink(n), uuidLink(41 - n)])
      assert.ok(html.includes(expected), `${n} ${expected}`)
    if (n > 1) assert.ok(html.replaceAll(/<\/?mark>/g, '').includes(bossLink(n - 1)), `boss ${n}`)
  }
  for (const [field, name] of [
    ['land', 'Land'],
    ['team_id', 'Team'],
  ]) {
    const groups = await pageOf(`/explore/staff?by=${field}`)
    for (const n of numbers) assert.ok(groups.includes(`<bdi>${name} ${n}</bdi>`), `${field} ${n}`)
  }
  const filtered = await pageOf(`/explore/staff?land=${codeOf(30)}&team_id=${uuidOf(30)}`)
  assert.match(filtered, 'Land: <bdi>Land 30</bdi>')
  assert.match(filtered, 'Team: <bdi>Team 30</bdi>')
  assert.match(await pageOf('/explore/lands/choices?q=land%2033'), 'data-value="C033" data-label="Land 33"')
  assert.match(
    await pageOf(`/explore/teams/choices?q=${uuidOf(33)}`),
    `data-value="${uuidOf(33)}" data-label="Team 33"`,
  )
  const form = await pageOf('/explore/staff/33/edit')
  for (const name of ['Land 33', 'Land 8', 'Team 33', 'Team 8', 'Person 32']) assert.match(form, name)
  for (const html of [table, found, form, ...rows.map(([, row]) => row)])
    assert.not.match(html, /class="none">#|object Object/)
})

test.run()
