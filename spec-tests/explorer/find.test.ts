/** Finding anything: pages, operations and rows, for those who may see them. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { defineOperation, integer, text } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { operationsNamed } from '../support/ownOperations.js'
import { resourceIn } from '../support/registryFrom.js'
import { sessionOf, startService } from '../support/service.js'

const people = resourceIn(
  'people',
  { name: text(), team: text({ filter: true }), secret: text({ readBy: ['hr'] }) },
  { name: 'Person', plural: 'People', access: { read: ['hr', { team: claim('team') }], create: 'hr' } },
)
const rooms = resourceIn(
  'rooms',
  { name: text(), note: text() },
  { name: 'Room', plural: 'Rooms', import: true, access: { read: 'public', create: 'hr' } },
)
/** Has nothing that a text can find. */
const counters = resourceIn('counters', { n: integer() })
const operations = operationsNamed({
  'clean-rooms': defineOperation({
    method: 'POST',
    path: '/v1/clean',
    about: 'Cleans.',
    access: 'hr',
    handle: () => 1,
  }),
})
const service = await startService({
  registry: [people, rooms, counters],
  operations,
  explorer: true,
  credentials: callersNamed({ hr: { roles: ['hr'] }, ana: { roles: [], claims: { team: 'core' } } }),
})
const names = ['Ada <i>', 'Adam', 'Bob', 'Nada', 'Adele', 'Adil', 'Cy']
await service.fill([
  {
    resource: people,
    rows: names.map((name, n) => ({ id: n + 1, name, team: n === 1 ? 'core' : 'web', secret: `zebra ${n}` })),
  },
  { resource: rooms, rows: [{ id: 1, name: 'Blue room', note: 'Adams favourite' }] },
  { resource: counters, rows: [{ id: 1, n: 1 }] },
])
const cookies: Record<string, string> = {}
for (const key of ['hr', 'ana']) cookies[key] = await sessionOf(service.address, key)
/** The addresses of what is found, in order. */
const find = async (q: string, visitor?: string): Promise<string[]> => {
  const headers = { accept: 'text/html', ...(visitor && { cookie: cookies[visitor] as string }) }
  const { status, text: source } = await service.send(`/explore/-/find?q=${encodeURIComponent(q)}`, { headers })
  assert.is(status, 200)
  const found = source.slice(source.indexOf('id="found"'), source.indexOf('</main>'))
  return [...found.matchAll(/ href="([^"]*)"/g)].map(([, url = '']) => url)
}

const test = suite('find anything')

test('without a text, all tables and operations that the visitor may use', async () => {
  assert.equal(await find('', 'hr'), [
    '/explore/people',
    '/explore/rooms',
    '/explore/counters',
    '/explore/-/operations/clean-rooms',
  ])
  assert.equal(await find(''), ['/explore/rooms', '/explore/counters'])
})

test('pages by the words of their names', async () => {
  assert.equal(await find('room', 'hr'), [
    '/explore/rooms',
    '/explore/-/operations/clean-rooms',
    '/explore/rooms/new',
    '/explore/rooms/import',
    '/explore/rooms/1',
    '/explore/rooms?q=room',
  ])
  assert.equal(await find('rooms clean', 'hr'), ['/explore/-/operations/clean-rooms'])
  assert.equal(await find('sign'), ['/explore/sign-in'])
})

test('a few rows of each table, labels that begin with the text first', async () => {
  assert.equal(await find('ada', 'hr'), [
    '/explore/people/1',
    '/explore/people/2',
    '/explore/people/4',
    '/explore/people?q=ada',
    '/explore/rooms/1',
    '/explore/rooms?q=ada',
  ])
  assert.is((await find('ad', 'hr')).filter((url) => /people\/\d/.test(url)).length, 4)
})

test('how many there are is the number of all matches, of which only some are listed', async () => {
  const figures = async (q: string, visitor: string) => {
    const headers = { accept: 'text/html', cookie: cookies[visitor] as string }
    const { text: source } = await service.send(`/explore/-/find?q=${q}`, { headers })
    const links = [...source.matchAll(/>([^<]*match[^<]*)<\/a>/g)].map(([, link]) => link)
    return { found: /id="found-count"[^>]*>([^<]*)</.exec(source)?.[1], links }
  }
  assert.equal(await figures('ad', 'hr'), { found: '6 found', links: ['5 matches in people', '1 match in rooms'] })
  assert.equal(await figures('ad', 'ana'), { found: '2 found', links: ['1 match in people', '1 match in rooms'] })
  assert.equal(await figures('room', 'hr'), { found: '5 found', links: ['1 match in rooms'] })
  const rows = Array.from({ length: 70 }, (_, n) => ({ id: n + 10, name: `Hall ${n + 10}`, note: '' }))
  await service.fill([{ resource: rooms, rows }])
  assert.equal(await figures('hall', 'ana'), { found: '70 found', links: ['70 matches in rooms'] })
  // By their ids too: one that the text finds, and one that it does not find.
  assert.equal(await figures('70', 'ana'), { found: '1 found', links: ['1 match in rooms'] })
  await service.fill([{ resource: rooms, rows: [{ id: 9_000, name: 'Attic', note: '' }] }])
  assert.equal(await figures('9000', 'ana'), { found: '1 found', links: [] })
})

test('one letter finds only pages', async () => {
  assert.ok(!(await find('a', 'hr')).some((url) => /\d/.test(url)))
})

test('only rows and fields that the visitor may read', async () => {
  assert.equal(await find('ada', 'ana'), [
    '/explore/people/2',
    '/explore/people?q=ada',
    '/explore/rooms/1',
    '/explore/rooms?q=ada',
  ])
  assert.equal(await find('ada'), ['/explore/rooms/1', '/explore/rooms?q=ada'])
  assert.equal(await find('zebra', 'ana'), [])
})

test('what is found and what was typed is escaped', async () => {
  const headers = { accept: 'text/html', cookie: cookies['hr'] as string }
  assert.match((await service.send('/explore/-/find?q=Ada', { headers })).text, /<bdi>Ada &lt;i&gt;<\/bdi>/)
  assert.match((await service.send('/explore/-/find?q=%3Cb%3E')).text, /Nothing is called “<bdi>&lt;b&gt;<\/bdi>”/)
})

test.run()
