import { EventEmitter } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, integer, number, text, timestamp } from '../../engine/descriptor/index.js'
import { filterFields, type Registry, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { assets } from '../../engine/explorer/assets.js'
import { renderRest, renderStart } from '../../engine/explorer/layout.js'
import { pageUrl, rowUrl, signOutPath } from '../../engine/explorer/links.js'
import { tablePage } from '../../engine/explorer/tablePage.js'
import { fullValue } from '../../engine/explorer/values.js'
import { openStorage } from '../../engine/storage/open.js'
import { withSampleRows } from '../../support/samples.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, server } from '../support/database.js'
import { kitchenSink } from '../support/kitchenSink.js'
import { office } from '../support/office.js'
import { resourceIn } from '../support/registryFrom.js'
import { sessionOf, startService } from '../support/service.js'
import { testedResources } from '../support/tested.js'
import { product } from '../support/testedProject.js'

const registry = withSampleRows([...office, ...kitchenSink])
const { send, create, address } = await startService({ registry, explorer: true })
// On PostgreSQL, the resources to repeat tests for are among these.
const { send: sendToTested } = server ? { send } : await startService({ explorer: true })
const test = suite('explorer')

const page = async (path: string): Promise<string> => {
  const { status, text: html } = await send(path)
  assert.is(status, 200, path)
  return html
}
const entities: Record<string, string> = { '&#39;': "'", '&quot;': '"', '&lt;': '<', '&gt;': '>', '&amp;': '&' }
/** The text of a page, without its tags. */
const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:#39|quot|lt|gt|amp);/g, (entity) => entities[entity] as string)
    .replaceAll(/\s+/g, ' ')
const findLinks = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, url]) => (url as string).replaceAll('&amp;', '&'))

test('the home page has every area and resource with its count and about', async () => {
  const html = await page('/')
  const shown = plain(html)
  for (const { plural, area, about, demo } of registry) {
    assert.ok(shown.includes(area), area)
    assert.ok(shown.includes(`${plural} ${demo.length} ${about ?? ''}`.trimEnd()), plural)
  }
  assert.ok(findLinks(html).includes('/api/docs'))
})

test('the home page has a diagram whose boxes are links', async () => {
  const html = await page('/')
  const diagram = html.slice(html.indexOf('<svg width'))
  for (const { path, fields } of registry) {
    assert.ok(diagram.includes(`<a href="/explore/${path}">`), path)
    for (const { name, references } of fields) {
      if (references) assert.ok(diagram.includes(`${path}.${name} → ${references}`), name)
    }
  }
})

test('every kind of link of every page leads to a page', async () => {
  const seen = new Set<string>()
  const queue = [
    '/',
    ...registry.flatMap((resource) => [pageUrl(resource), rowUrl(resource, String(resource.demo[0]?.['id'] ?? 1))]),
  ]
  for (const path of queue) {
    for (const link of findLinks(await page(path))) {
      const [target = ''] = link.split('#')
      // Links to other rows, and with other values of the same parameters, are of the same kind.
      const kind = target.replaceAll(/=[^&]*|(?<=\/)\d+|(?<=\/rows\/)[^/?]+|(?<=\/)[\da-f-]{36}/g, '')
      // A form with a button, not a link.
      if (seen.has(kind) || target === '' || target === signOutPath) continue
      seen.add(kind)
      assert.ok(target.startsWith('/'), `${path} leads to ${link}`)
      assert.is((await send(target)).status, 200, `${path} leads to ${link}`)
    }
  }
  assert.ok(seen.size > 200)
})

test('pages load files of this host only, and no inline script or style', async () => {
  for (const path of ['/', '/explore/employees', '/explore/employees/7', '/explore/leave/new', '/explore/nothing']) {
    const { headers, text: html } = await send(path)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    assert.not.match(policy, /unsafe/)
    assert.not.match(
      html,
      /https?:\/\/(?!127\.0\.0\.1)|<style|<script(?! type="module" src="\/explore)| style=| on\w+=/,
    )
  }
})

const findFolder = async (): Promise<string> =>
  /href="(\/explore\/assets\/[0-9a-f]{12})\/explorer\.css"/.exec(await page('/'))?.[1] ?? ''

test('the files of the pages are small and immutable', async () => {
  const bytes = { css: 0, js: 0, svg: 0 }
  const folder = await findFolder()
  for (const name of assets().map(({ path }) => path.slice(path.lastIndexOf('/') + 1))) {
    const { status, headers } = await send(`${folder}/${name}`, { headers: { 'accept-encoding': 'br' } })
    assert.is(status, 200, name)
    assert.is(headers['cache-control'], 'public, max-age=31536000, immutable')
    bytes[name.split('.')[1] as keyof typeof bytes] += Number(headers['content-length'])
  }
  assert.ok(bytes.css < 10_000 && bytes.js < 60_000, JSON.stringify(bytes))
  assert.is((await send('/favicon.ico')).headers['content-type'], 'image/svg+xml; charset=utf-8')
})

test('no other file can be reached through the folder of the files', async () => {
  const folder = await findFolder()
  for (const path of ['..%2fhtml.js', '../html.js', 'assets.js', '', '.', '0123456789ab/explorer.css'])
    for (const base of [folder, '/explore/assets']) assert.is((await send(`${base}/${path}`)).status, 404, path)
  assert.is((await send('/explore/assets/explorer.css')).status, 404)
})

for (const resource of testedResources) {
  test(`${resource.path}: a table with all fields, the exact total, and the same rows as the API`, async () => {
    const { text: html } = await sendToTested(`/explore/${resource.path}?limit=25`)
    const { body } = await sendToTested(`/api/v1/${resource.path}?limit=25`)
    const raw = [...html.matchAll(/<th scope="col".*?<code class="raw">([\w ]+)<\/code>/gs)].flatMap(([, names]) =>
      names?.split(' '),
    )
    assert.equal(raw.sort(), resource.fields.map(({ name }) => name).sort())
    assert.ok(plain(html).includes(`${body.meta.total} ${resource.plural.toLowerCase()}`))
    const ids = [
      ...html.matchAll(/<th scope="row"[^>]*>(?:<input[^>]*>)?<a href="[^"]*"[^>]*>([^<]+)<\/a><\/th>/g),
    ].map(([, id]) => id)
    const expected = body.data.map((row: RowValues) => String(row['id']))
    assert.equal(ids, expected)
  })

  test(`${resource.path}: filters have their most frequent values with exact counts, as links`, async () => {
    const { text: html } = await sendToTested(`/explore/${resource.path}/filters`)
    // Those that are set when a row is made are as many as the machine is slow.
    const fields = filterFields(resource).filter(({ managed }) => managed === undefined)
    for (const { name, kind } of fields) {
      const isNumber = ['integer', 'number', 'decimal'].includes(kind)
      const counts = new Map<string, number>()
      for (const row of resource.demo) {
        const value = row[name] ?? null
        if (value !== null) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
      }
      const [most] = [...counts].sort(([a, n], [b, m]) => m - n || (isNumber ? Number(a) - Number(b) : a < b ? -1 : 1))
      if (!most) continue
      const link = `/explore/${resource.path}?${new URLSearchParams([[name, most[0]]])}`.replaceAll('&', '&amp;')
      const item = html.slice(html.indexOf(`<a href="${link}"`)).split('</a>')[0] ?? ''
      assert.match(item, new RegExp(`<span class="figure">${most[1]}</span>`), `${name}=${most[0]}`)
    }
  })
}

test('the URL is the whole state: search, filter and offset', async () => {
  const query = 'q=an&status=Active&limit=25&offset=25'
  const html = await page(`/explore/candidates?${query}`)
  const { body } = await send(`/api/v1/candidates?${query}`)
  assert.match(html, /<input type="search" id="q" name="q" value="an"/)
  assert.match(html, /<input type="hidden" name="status" value="Active">/)
  assert.match(plain(html), new RegExp(`${body.meta.total} candidates · rows 26–`))
  assert.match(html, /<mark>an<\/mark>/)
  const links = findLinks(html)
  assert.ok(links.includes('/explore/candidates?q=an&status=Active&limit=25'), 'first and previous')
  assert.ok(links.includes('/explore/candidates?q=an&limit=25'), 'without the filter')
  assert.ok(links.includes(`/api/v1/candidates?${query}`), 'the JSON')
  assert.ok(plain(html).includes(`/api/v1/candidates?${query}'`), 'the curl line')
  assert.ok(links.includes('/explore/candidates/download.csv?q=an&status=Active'))
})

test('pages: first, previous, next, last and go to', async () => {
  const links = findLinks(await page('/explore/attendance?offset=100'))
  for (const offset of ['', '?offset=50', '?offset=750']) {
    assert.ok(links.includes(`/explore/attendance${offset}`), offset)
  }
  const next = links.find((link) => link.startsWith('/explore/attendance?after='))
  assert.match(plain(await page(String(next))), /rows 151–200/)
  const going = await send('/explore/attendance?limit=25&page=3')
  assert.is(going.headers.location, '/explore/attendance?limit=25&offset=50')
  const past = await page('/explore/attendance?offset=99999999999999999999')
  assert.match(plain(past), /There are no rows this far: the last of \d+ is on page 16/)
  assert.ok(findLinks(past).includes('/explore/attendance?offset=750'))
  assert.not.match(await page('/explore/departments'), /class="pager"/)
})

/** Rows of every sort of value that people read in another form than requests have it. */
const notes: Registry = [
  resourceIn(
    'notes',
    {
      title: text(),
      dept_id: integer({ references: 'notes' }),
      owner_id: integer({ references: 'notes', label: 'Kept by' }),
      price: number({ filter: true }),
      year: integer(),
      due: date({ range: true }),
      sent: timestamp(),
      day: text({ format: 'date' }),
      done: boolean({ filter: true }),
      state: text({ filter: true, tones: { Approved: 'good', Rejected: 'bad' } }),
      linkedin_url: text(),
    },
    {
      name: 'Note',
      demo: [
        {
          id: 1,
          title: 'First',
          dept_id: 1,
          owner_id: 1,
          price: 1234567.25,
          year: 2026,
          due: '2026-03-01',
          sent: '2026-03-01T09:30:00.000Z',
          day: '2026-11-09',
          done: true,
          state: 'Approved',
          linkedin_url: 'https://example.com/needle',
        },
        { id: 2, title: 'Second', price: 0.30000000000000004, day: 'tomorrow', done: false, state: 'constructor' },
      ],
    },
  ),
]
const noted = await startService({ registry: notes, explorer: true })

test('names, numbers, dates and booleans are for people, with the raw form beside them', async () => {
  const { text: html } = await noted.send('/explore/notes')
  const heads = plain(html.slice(html.indexOf('<thead'), html.indexOf('</thead>')))
  assert.match(heads, /ID ↑ id Title title Dept dept_id Kept by owner_id Price price .* Linkedin URL linkedin_url/)
  const cells = plain(html.slice(html.indexOf('<tbody'), html.indexOf('</tbody>')))
  assert.match(cells, /1,234,567\.25 2026 1 Mar 2026 1 Mar 2026, 09:30 9 Nov 2026 Yes Approved/)
  assert.match(cells, /0\.30000000000000004 .* tomorrow No constructor/)
  assert.match(html, /<time datetime="2026-03-01T09:30:00.000Z" title="2026-03-01T09:30:00.000Z">/)
  assert.match(html, /<span class="chip good"><bdi>Approved/)
  assert.is(html.match(/class="chip/g)?.length, 1)
  assert.match(plain((await noted.send('/explore/notes/filters')).text), /Yes 1 .* Due due From/)
  const { text: row } = await noted.send('/explore/notes/1')
  assert.match(plain(row), /Price price 1,234,567\.25 1234567\.25 .* Due due 1 Mar 2026 2026-03-01/)
})

test('a label that a search has not matched says which field it has matched', async () => {
  const { text: html } = await noted.send('/explore/notes?q=needle')
  assert.match(
    html,
    /class="label"><a href="\/explore\/notes\/1"><bdi>First<\/bdi><\/a><small class="match"><span>Linkedin URL:<\/span> /,
  )
  assert.match(plain(html), /Linkedin URL: …com\/ needle/)
})

test('a label that a search has matched shows the match', async () => {
  const { text: inLabel } = await noted.send('/explore/notes?q=sec')
  assert.match(inLabel, /class="label"><a [^>]*><bdi><mark>Sec<\/mark>ond<\/bdi><\/a><\/th>/)
})

test('columns: the address has the choice, and every link keeps it', async () => {
  const chosen = await noted.send('/explore/notes?columns=done&columns=price&q=first')
  assert.is(chosen.headers.location, '/explore/notes?q=first&columns=done,price')
  const { text: html } = await noted.send('/explore/notes?columns=price,done&sort=-id')
  assert.match(
    plain(html.slice(html.indexOf('<thead'), html.indexOf('</thead>'))),
    /Title title Price price Done done $/,
  )
  assert.ok(findLinks(html).includes('/explore/notes?columns=price,done'), 'the order')
  const { text: filters } = await noted.send('/explore/notes/filters?columns=price,done&sort=-id')
  assert.ok(findLinks(filters).includes('/explore/notes?done=true&sort=-id&columns=price,done'), 'a filter')
  assert.ok(findLinks(html).includes('/api/v1/notes?sort=-id'), 'the request has no columns')
  const wrong = await noted.send('/explore/notes?columns=prise')
  assert.is(wrong.status, 422)
  assert.match(plain(wrong.text), /There is no column "prise"\. Did you mean "price"\?/)
  assert.ok(findLinks(wrong.text).includes('/explore/notes'))
})

test('a wrong filter is told at the filter, and the rows are there', async () => {
  const { status, text: html } = await noted.send('/explore/notes?price.gte=cheap&done=perhaps&sort=-id')
  assert.is(status, 422)
  assert.match(html, /name="done" value="perhaps" aria-invalid="true" aria-describedby="issue-filter-done"/)
  assert.match(plain(html), /“perhaps” is neither true nor false\./)
  assert.match(plain(html), /First/)
  const { status: other, text: sorted } = await noted.send('/explore/notes?sort=nothing')
  assert.is(other, 422)
  assert.match(plain(sorted), /sort: Input should be/)
  assert.match(plain(sorted), /First/)
})

test('a filter by a reference takes ids of every kind, and names', async () => {
  const orders = resourceIn('orders', { name: text() }, { id: 'text', demo: [{ id: 'A', name: 'First' }] } as object)
  const lines = resourceIn(
    'lines',
    { order_id: text({ references: 'orders', filter: true }) },
    {
      demo: [{ id: 1, order_id: 'A' }],
    },
  )
  const service = await startService({ registry: [orders, lines], explorer: true })
  const found = await service.send('/explore/lines?order_id=A')
  assert.is(found.status, 200)
  assert.match(plain(found.text), /1 lines? /)
  const { headers } = await service.send('/explore/lines?order_id=first')
  assert.is(headers.location, '/explore/lines?order_id=A')
})

test('an empty table offers its first action', async () => {
  const service = await startService({
    registry: [resourceIn('notes', { name: text() }, { name: 'Note' })],
    explorer: true,
  })
  const { text: html } = await service.send('/explore/notes')
  assert.match(plain(html), /There are no notes yet\. Create the first note/)
})

test('numbers and dates with a range have a chart, whose bars filter', async () => {
  const fields = {
    day: date({ range: true }),
    size: integer({ range: true }),
    share: number({ range: true }),
    at: timestamp({ range: true }),
  }
  const demo = Array.from({ length: 40 }, (_, n) => ({
    id: n + 1,
    day: `2026-0${1 + (n % 4)}-15`,
    size: n % 20,
    share: n / 100,
    at: `20${10 + (n % 20)}-06-01T00:00:00.000Z`,
  }))
  const measured = await startService({
    registry: [resourceIn('sizes', fields, { name: 'Size', demo })],
    explorer: true,
  })
  const { text: html } = await measured.send('/explore/sizes/filters')
  const bars = findLinks(html.slice(html.indexOf('id="charts"'), html.indexOf('id="filters"')))
  const sums = new Map<string, number>()
  for (const link of bars) {
    const { body } = await measured.send(link.replace('/explore/', '/api/v1/'))
    const name = link.replace(/^.*\?(\w+)\..*$/, '$1')
    sums.set(name, (sums.get(name) ?? 0) + body.meta.total)
  }
  assert.equal(Object.fromEntries(sums), { day: 40, size: 40, share: 40, at: 40 })
  assert.ok(bars.includes('/explore/sizes?size.gte=2&size.lte=3'))
  assert.ok(bars.some((link) => /day\.gte=2026-01-\d\d&day\.lte=2026-01-\d\d/.test(link)))
})

test('a large table comes first, and its counts follow', async () => {
  const rows = Array.from({ length: 6_000 }, (_, n) => ({ id: n + 1, title: `Note ${n}`, done: n % 3 === 0 }))
  const demo = rows.map((row) => ({ ...notes[0]?.demo[1], ...row, state: 'open' }))
  const large = await startService({ registry: [{ ...(notes[0] as Resource), demo }], explorer: true })
  const { text: html } = await large.send('/explore/notes?done=true')
  assert.match(html, /data-counts="\/explore\/notes\/filters\?done=true"/)
  assert.not.match(html, /class="figure"/)
  const { text: filters } = await large.send('/explore/notes/filters?done=true')
  assert.match(plain(filters), /State state open 2,000/)
})

test('a reference is found by its name', async () => {
  const { headers } = await send('/explore/leave?employee_id=ana%20ng&status=')
  assert.is(headers.location, '/explore/leave?employee_id=45')
  const several = await page('/explore/leave?employee_id=an&status=Approved')
  assert.ok(findLinks(several).includes('/explore/leave?status=Approved&employee_id=45'))
  assert.match(
    plain(await page('/explore/leave?employee_id=nobody%20at%20all')),
    /No employee matches “nobody at all”\./,
  )
  const options = await page('/explore/employees/choices?q=ana%20ng')
  assert.match(options, /data-value="45" data-label="Ana Ng"/)
  assert.match(await page('/explore/employees/choices?q=45'), /data-value="45"/)
})

test('a redacted field is shown as redacted, in tables and on the page of a row', async () => {
  assert.match(await page('/explore/employees/7'), /password_hash.*<span class="redacted">redacted<\/span>/s)
  assert.match(await page('/explore/employees'), /<span class="redacted">redacted<\/span>/)
})

test('the page of a row has every field with its about, and the request', async () => {
  const html = await page('/explore/employees/7')
  const resource = registry.find(({ path }) => path === 'employees')
  for (const { name, about = '' } of resource?.fields ?? []) assert.ok(plain(html).includes(`${name} ${about}`), name)
  assert.ok(plain(html).includes("/api/v1/employees/7'"))
})

test('the page of a row names the rows that it references', async () => {
  const { body: row } = await send('/api/v1/employees/7')
  const html = await page('/explore/employees/7')
  const { body: department } = await send(`/api/v1/departments/${row.dept_id}`)
  assert.ok(html.includes(`<a href="/explore/departments/${row.dept_id}"><bdi>${department.name}</bdi></a>`))
})

test('the page of a row counts what refers to it', async () => {
  const html = await page('/explore/employees/7')
  const { body: leave } = await send('/api/v1/leave?employee_id=7')
  assert.ok(plain(html).includes(`Leave requests by employee ${leave.meta.total}`))
  assert.ok(findLinks(html).includes('/explore/leave?employee_id=7'))
  assert.match(plain(await page('/explore/sink-pipes/1')), /Sink pipes by twin not counted/)
})

const documentFields = {
  code: text(),
  kind: text({ filter: true }),
  body: text(),
  next_id: integer({ references: 'documents' }),
}
const documents: Registry = [resourceIn('documents', documentFields, { name: 'Document', label: ['code', 'kind'] })]

test('a resource without texts has filters and no search box', async () => {
  const numbers = await page('/explore/sink-numbers')
  assert.not.match(numbers, /id="q"/)
  assert.match(numbers, '<button form="search">Filter</button>')
  assert.match(await page('/explore/departments'), /id="q"/)
})

const referenceTexts = { 1: 'Report #1', 2: '#2', 3: '#3 There is no such row.' }

test('a reference has its id once, also if its target is gone', () => {
  const [resource] = documents as [Resource]
  const labels = (_: Resource, id: unknown) => (id === 1 ? 'Report' : id === 2 ? '#2' : undefined)
  const field = resource.fields.find(({ name }) => name === 'next_id') as Resource['fields'][number]
  const shown = (id: number) => plain(fullValue(field, id, { registry: documents, labels, url: '' }).source).trim()
  for (const [id, expected] of Object.entries(referenceTexts)) assert.is(shown(Number(id)), expected)
})

test('the start of a table page needs no row, so that a slow query does not delay it', async () => {
  const storage = await openStorage(documents, await freshUrl(), storageOptions)
  const [resource] = documents as [Resource]
  const visitor = {
    name: undefined,
    product,
    registry: documents,
    storage,
    history: async () => undefined,
    operations: [],
    writes: false,
    canSignIn: false,
    cursor: async () => undefined,
  }
  const caller = Object.assign(new EventEmitter(), { closed: false })
  const response = await tablePage(visitor, { resource, segment: '', querystring: '', origin: '', caller })
  if (!('later' in response)) throw new Error('the page does not come in parts')
  assert.match(renderStart(product, response.title), /<title>.*<body>$/s)
  assert.match(renderRest(visitor, await response.later), /<\/html>$/)
  await storage.close()
})

test('a slash at the end of an address redirects to the page without it', async () => {
  for (const path of ['/explore/employees', '/explore/employees/7', '/explore/leave/new', '/explore']) {
    const { status, headers } = await send(`${path}/?q=a%2Fb`)
    assert.is(status, 302, path)
    assert.is(headers.location, `${path}?q=a%2Fb`)
  }
  assert.is((await send('/explore/nothing/')).status, 404)
  assert.is((await send('/api/v1/employees/')).status, 404)
})

test('errors are pages with the message of the API', async () => {
  for (const [path, status, message] of [
    ['/explore/nothing', 404, /There is nothing at this path/],
    ['/explore/employees/0', 404, /There is no employee with id "0"/],
    ['/explore/employees/%FF', 422, /percent-encoded UTF-8/],
    ['/explore/employees?limit=0', 422, /limit: Input should be greater/],
    ['/explore/employees?stauts=Active', 200, /Unknown parameter "stauts" was ignored\. Did you mean "status"\?/],
    ['/explore/employees/new', 404, /There is nothing/],
    ['/explore/employees/7/8', 404, /There is nothing/],
    ['/explore/employees/7/edit', 404, /There is nothing/],
    ['/explore/jobs?dept_id=999999999999999999999', 200, /0 job openings/],
  ] as const) {
    const { status: got, headers, text: html } = await send(path)
    assert.is(got, status, path)
    assert.is(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(plain(html), message)
    if (status !== 200 && path !== '/explore/nothing') assert.ok(findLinks(html).includes('/explore/employees'), path)
  }
})

test('the form has a control for each field, with required marks, defaults and help', async () => {
  const { text: html } = await send('/explore/leave/new', { headers: { cookie: await sessionOf(address) } })
  const names = [...html.matchAll(/<(?:input|textarea)[^>]* name="(\w+)"/g)].map(([, name]) => name)
  const fields = ['employee_id', 'leave_type', 'from_date', 'to_date', 'days', 'status', 'reason', 'applied_on']
  assert.equal(names, fields)
  assert.match(html, /Leave type <code class="raw">leave_type<\/code> <span class="required">required<\/span>/)
  assert.match(html, /name="status"[^>]* placeholder="Pending"/)
  assert.ok(plain(html).includes('Annual, Sick, Parental, Unpaid, …'))
  assert.match(html, /data-choices="\/explore\/employees\/choices"/)
})

test('without a token, there is no form and no link to one', async () => {
  const readOnly = await startService({ registry: office, explorer: true, token: undefined })
  const { text: form } = await readOnly.send('/explore/leave/new')
  assert.match(form, /Writes are disabled/)
  assert.not.match(form, /<form|sign-in/)
  assert.not.match((await readOnly.send('/explore/leave')).text, /\/new"/)
  assert.not.match((await readOnly.send('/explore/leave/1')).text, /\/(?:edit|delete)"/)
})

test('EXPLORER=false: the root redirects to the docs, and there are no pages and no link to them', async () => {
  const plainService = await startService({ registry: office, explorer: false })
  assert.is((await plainService.send('/')).headers.location, '/api/docs')
  assert.is((await plainService.send('/explore/employees')).status, 404)
  const link = '<a href="/">Explorer</a>'
  assert.not.match((await plainService.send('/api/docs')).text, link)
  assert.match(await page('/api/docs'), link)
})

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</textarea></title><svg onload=alert(1)>',
  '{{7*7}}&lt;b&gt;&amp;',
  '\u202eevil\u2066',
]

for (const value of hostile) {
  test(`stored and typed texts stay text: ${JSON.stringify(value)}`, async () => {
    const created = await create('organization-teams', { organization_id: 1, name: value, country: value })
    const { id } = created.body
    const typed = ['?country=', '?q=', '?parent_id=', '/choices?q=', '/'].map(
      (part) => part + encodeURIComponent(value),
    )
    for (const path of [`/${id}`, ...typed]) {
      const { text: html } = await send(`/explore/organization-teams${path}`)
      // Values of attributes may contain such words; tags may not.
      assert.not.match(
        html.replaceAll(/"[^"]*"/g, '""'),
        /<(?:script(?! type="" src="")|img|svg onload)|<[^>]*\son\w+=/i,
        path,
      )
    }
    const shown = await page(`/explore/organization-teams?country=${encodeURIComponent(value)}`)
    assert.ok(plain(shown.replaceAll(/<\/?(?:mark|bdi)>/g, '')).includes(value.replaceAll(/\s+/g, ' ')), value)
  })
}

const startLibrary = () => {
  const long = `${'<b>word</b> & '.repeat(70_000)}needle`
  const demo = Array.from({ length: 40 }, (_, n) => ({
    id: n + 1,
    code: `D-${n + 1}`,
    kind: n % 4 === 0 ? 'x'.repeat(500) : 'letter',
    body: n < 4 ? long : 'short',
    next_id: n === 0 ? null : n,
  }))
  return startService({ registry: [{ ...(documents[0] as Resource), demo }], explorer: true })
}
const library = await startLibrary()

test('texts of a megabyte: tables have excerpts', async () => {
  for (const query of ['', '?q=word', '?q=needle']) {
    const { status, text: html } = await library.send(`/explore/documents${query}`)
    assert.is(status, 200)
    assert.ok(html.length < 300_000, `${query}: ${html.length} characters`)
    assert.not.match(html, /<b>/)
  }
  const table = (await library.send('/explore/documents')).text
  assert.match(table, /40<\/strong> documents/)
  assert.match(table, /All 980,006 characters/)
  assert.match(table, /<span class="figure">30<\/span>/)
})

test('texts of a megabyte: labels are short', async () => {
  const { text: table } = await library.send('/explore/documents')
  assert.match(table, /<a href="\/explore\/documents\/1"><bdi>D-1 x{40,}…/)
})

test('texts of a megabyte: the page of the row has all', async () => {
  const { text: row } = await library.send('/explore/documents/1')
  assert.ok(row.includes('&amp; needle'))
  assert.not.match(row, /<b>/)
})

test('a page has the same tag until its rows change', async () => {
  // A page whose rows are slow to read is sent in parts, without a tag; the response to HEAD never is.
  // Browsers do not keep the pages of signed-in users either, and each form has a different idempotency key.
  const head = (path: string, headers: Record<string, string> = {}) =>
    send(path, { method: 'HEAD', headers: { cookie: '', ...headers } })
  for (const path of ['/', '/explore/leave', '/explore/leave?q=a&sort=-id', '/explore/leave/1', '/explore/leave/new']) {
    const { etag } = (await head(path)).headers
    assert.type(etag, 'string', path)
    assert.is((await head(path, { 'if-none-match': String(etag) })).status, 304, path)
  }
  const before = (await head('/explore/leave?sort=-id')).headers['etag']
  assert.is((await create('leave', { leave_type: 'Annual' })).status, 201)
  assert.is.not((await head('/explore/leave?sort=-id')).headers['etag'], before)
})

test.run()
