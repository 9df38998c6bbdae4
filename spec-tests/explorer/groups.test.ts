/** Tables by groups: what they compute, where their groups lead, sums below rows, and what is hidden. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, decimal, integer, text, timestamp } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { sessionOf, startService } from '../support/service.js'

const people = resourceIn('people', { name: text() }, { plural: 'People' })
const tasks = resourceIn(
  'tasks',
  {
    title: text(),
    state: text({ filter: true, tones: { open: 'info' } }),
    owner_id: integer({ references: 'people', filter: true }),
    points: integer({ range: true }),
    cost: decimal({ digits: 8, places: 2, range: true }),
    due: date({ filter: true, range: true }),
    noted: timestamp({ range: true }),
    said: text({ format: 'date', range: true }),
    urgent: boolean({ filter: true }),
    pay: integer({ range: true, filter: true, readBy: ['hr'] }),
  },
  { name: 'Task', summary: true },
)
/** Its fields have the names of parameters. */
const odd = resourceIn('odd', { by: text({ filter: true }), sum: integer({ range: true }) })

const service = await startService({
  registry: [people, tasks, odd],
  explorer: true,
  credentials: callersNamed({ hr: { roles: ['hr'] } }),
})
const none = { owner_id: null, points: null, cost: null, due: null, noted: null, said: null, urgent: null, pay: 1 }
await service.fill([
  { resource: people, rows: [{ id: 1, name: 'Ada <b>' }] },
  {
    resource: tasks,
    rows: [
      { ...none, id: 1, title: 'a', state: 'open', points: 3, due: '2026-03-05', noted: '2026-03-05T10:00:00.000Z' },
      { ...none, id: 2, title: 'b', state: 'open', points: 4, due: '2026-03-20', owner_id: 1, said: '2026-03-09' },
      { ...none, id: 3, title: 'c', state: 'done', points: 1_000_000, due: '2025-12-31', owner_id: 1, said: 'soon' },
      { ...none, id: 4, title: 'd', state: null },
    ],
  },
  { resource: odd, rows: [{ id: 1, by: 'x', sum: 3 }] },
])
const cookie = await sessionOf(service.address, 'hr')
const page = (path: string, headers: Record<string, string> = {}) =>
  service.send(`/explore/${path}`, { headers: { accept: 'text/html', ...headers } })

const plain = (source: string): string =>
  source
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
/** The lines of the table, and the addresses of their rows. */
const groupsOf = (source: string) => {
  const table = /<table class="groups">[\s\S]*?<\/table>/.exec(source)?.[0] ?? ''
  const lines = [...table.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, line = '']) => line)
  return {
    lines: lines.map(plain),
    urls: lines.flatMap((line) => / href="([^"]*)"/.exec(line)?.[1]?.replaceAll('&amp;', '&') ?? []),
  }
}
const totalOf = async (url: string): Promise<string | undefined> =>
  /<strong>([\d,]+)<\/strong>/.exec((await service.send(url)).text)?.[1]

const test = suite('groups in the explorer')

test('groups have their rows and sums, most rows first, and a line for all', async () => {
  const { text: source } = await page('tasks?by=state&sum=points')
  const { lines, urls } = groupsOf(source)
  assert.equal(lines, [
    'State state Rows Sum of points sum=points',
    'open 2 7',
    'empty 1 –',
    'done 1 1,000,000',
    'All 4 1,000,007',
  ])
  assert.equal(urls, ['/explore/tasks?state=open', '/explore/tasks?state.null=true', '/explore/tasks?state=done'])
  assert.match(source, /<figcaption>Sum of points by state<\/figcaption>/)
  assert.match(source, /chip info/)
  assert.match(source, /in 3 groups/)
  assert.match(source, /curl &#39;[^&]*\/api\/v1\/tasks\/summary\?by=state&amp;sum=points&#39;/)
})

test('each group leads to its rows, also within filters', async () => {
  for (const [query, expected] of [
    ['by=due.month', ['1', '1', '2']],
    ['by=due.year', ['1', '1', '2']],
    ['by=due.day&due.gte=2026-03-10', ['1']],
    ['by=due.month&due.gte=2026-03-10&due.lte=2026-03-30', ['1']],
    ['by=owner_id', ['2', '2']],
    ['by=noted.month', ['1']],
    ['by=said.month', ['1']],
    ['by=urgent', ['4']],
    ['by=state&by=due.year&q=b', ['1']],
    ['by=state,due.year', ['1', '1', '2']],
  ] as const) {
    const { urls } = groupsOf((await page(`tasks?${query}`)).text)
    const totals = await Promise.all(urls.map(totalOf))
    assert.equal(totals.sort(), [...expected], query)
  }
})

test('dates are in their order and readable, and references have names', async () => {
  assert.equal(groupsOf((await page('tasks?by=due.month&max=due&min=due&avg=points')).text).lines.slice(1), [
    'empty 1 – – –',
    'Dec 2025 1 1,000,000 31 Dec 2025 31 Dec 2025',
    'Mar 2026 2 3.5 5 Mar 2026 20 Mar 2026',
    'All 4 333,335.67 31 Dec 2025 20 Mar 2026',
  ])
  assert.match((await page('tasks?by=owner_id')).text, /<bdi>Ada &lt;b&gt;<\/bdi>/)
})

test('sums are below the rows if they are asked for', async () => {
  const asked = (await page('tasks')).text
  assert.match(asked, /href="\/explore\/tasks\?sum=points&amp;sum=cost">Sums</)
  assert.not.match(asked, /<tfoot>/)
  const { text: source } = await page('tasks?sum=points&max=points&state=open')
  const foot = /<tfoot>([\s\S]*)<\/tfoot>/.exec(source)?.[1] ?? ''
  assert.equal(
    [...foot.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, line = '']) => plain(line)),
    ['Sum 7', 'Greatest 4'],
  )
  assert.match(foot, /<th scope="row" colspan="2">/)
  assert.match(source, /href="\/explore\/tasks\?state=open">Without sums</)
})

test('filters and the search keep the groups, and the form those and the columns', async () => {
  const { text: source } = await page('tasks?by=state&sum=points&urgent=true&columns=points')
  assert.match(source, /<form id="search"[\s\S]*?<input type="hidden" name="by" value="state">/)
  assert.match(source, /<form class="group-form"[^>]*><input type="hidden" name="urgent" value="true"/)
  assert.match(source, /<input type="hidden" name="columns" value="points">/)
  assert.match(source, /<option value="state" selected>State</)
  assert.match(source, /<legend>Points<\/legend><label><input type="checkbox" name="sum" value="points" checked> Sum/)
  assert.match(source, /aria-label="Remove the filter Urgent"/)
})

test('a field whose name is that of a parameter stays a filter', async () => {
  assert.equal(groupsOf((await page('odd?explorer-by=by&sum=sum')).text).lines.slice(1), ['x 1 3', 'All 1 3'])
  assert.is(await totalOf('/explore/odd?by=x'), '1')
})

test('what cannot be grouped or computed is told, with the rows still there', async () => {
  for (const [query, message] of [
    ['by=stat', /Rows cannot be grouped by &quot;stat&quot;. Did you mean/],
    ['by=title', /Rows cannot be grouped by &quot;title&quot;/],
    ['sum=state', /There is no sum of &quot;state&quot;/],
    ['by=state&by=urgent&by=due.year', /grouped by 2 at most/],
  ] as const) {
    const { status, text: source } = await page(`tasks?${query}`)
    assert.is(status, 422)
    assert.match(source, message)
    assert.match(source, /<strong>4<\/strong> /)
  }
})

test('what a visitor may not see can neither be grouped nor summed', async () => {
  assert.is((await page('tasks?by=pay')).status, 422)
  assert.is((await page('tasks?by=state&sum=pay')).status, 422)
  assert.not.match((await page('tasks?by=state')).text, /value="pay"/)
  assert.is((await page('tasks?by=pay&sum=pay', { cookie })).status, 200)
})

test('no rows have no groups', async () => {
  assert.match((await page('tasks?by=state&q=nothing')).text, /No rows match/)
})

test.run()
