/** UUIDs, decimals and JSON: every value at, inside and outside its bounds, in bodies, queries and downloads. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decimal, json, number, text, uuid } from '../../engine/descriptor/index.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, followPages, startService } from '../support/service.js'

const fields = {
  name: text({ filter: true }),
  price: decimal({ digits: 12, places: 2, filter: true, sort: true, range: true }),
  exact: decimal({ digits: 18, places: 4, filter: true, sort: true, range: true }),
  units: decimal({ digits: 18, places: 0, filter: true, sort: true }),
  share: decimal({ digits: 3, places: 3, filter: true }),
  bounded: decimal({ digits: 5, places: 2, min: '-1.5', max: '100' }),
  rate: decimal({ digits: 6, places: 2, unique: true }),
  tag: uuid({ filter: true }),
  code: uuid({ unique: true }),
  data: json(),
}
const service = await startService({
  registry: [
    resourceIn('values', fields, { name: 'Value', update: true }),
    resourceIn('sorted', fields, { name: 'Sorted', plural: 'Sorted' }),
    resourceIn(
      'settings',
      { level: number(), data: json(), note: text() },
      { name: 'Setting', update: true, required: ['data'] },
    ),
    resourceIn(
      'presets',
      { data: json({ default: { b: 1, a: [] } }), secret: json({ redacted: true }), price: fields.price },
      { name: 'Preset', update: true, required: ['data'] },
    ),
  ],
})

const { create, change, get, send } = service

const issuesOf = (response: { body: { error: { details: { issues: Record<string, unknown>[] } } } }) =>
  response.body.error.details.issues.map(({ type, loc, ctx }) => (ctx ? { type, loc, ctx } : { type, loc }))

const test = suite('uuids, decimals and JSON')

const stored: [field: keyof typeof fields, sent: string, as: string][] = [
  ['price', '12.5', '12.50'],
  ['price', '12.50', '12.50'],
  ['price', '12.5000', '12.50'],
  ['price', '12', '12.00'],
  ['price', '0', '0.00'],
  ['price', '-0', '0.00'],
  ['price', '-0.00', '0.00'],
  ['price', '0.05', '0.05'],
  ['price', '-0.05', '-0.05'],
  ['price', '-12.5', '-12.50'],
  ['price', '007', '7.00'],
  ['price', '-007.10', '-7.10'],
  ['price', '00', '0.00'],
  ['price', '9999999999.99', '9999999999.99'],
  ['price', '-9999999999.99', '-9999999999.99'],
  ['price', `${'0'.repeat(39)}7`, '7.00'],
  ['price', `-${'0'.repeat(36)}7.1`, '-7.10'],
  ['price', `1.5${'0'.repeat(37)}`, '1.50'],
  ['exact', '99999999999999.9999', '99999999999999.9999'],
  ['exact', '-99999999999999.9999', '-99999999999999.9999'],
  ['exact', '90071992547409.9301', '90071992547409.9301'],
  ['exact', '0.0001', '0.0001'],
  ['exact', '-0.0001', '-0.0001'],
  ['units', '999999999999999999', '999999999999999999'],
  ['units', '-999999999999999999', '-999999999999999999'],
  ['units', '9007199254740993', '9007199254740993'],
  ['units', '7.000', '7'],
  ['units', '-0', '0'],
  ['share', '0.999', '0.999'],
  ['share', '-0.5', '-0.500'],
  ['share', '0', '0.000'],
  ['bounded', '-1.50', '-1.50'],
  ['bounded', '100.00', '100.00'],
  ['bounded', '9.99', '9.99'],
  ['tag', '0190D8A1-6f2e-7C3A-9b1d-2f4e6a8c0B1D', '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'],
  ['tag', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
  ['tag', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
]

for (const [field, sent, as] of stored) {
  test(`${field} returns ${as} for ${sent}, and finds the row by both`, async () => {
    const name = `${field} ${sent}`
    const created = await create('values', { name, [field]: sent })
    assert.equal([created.status, created.body[field]], [201, as], created.text)
    const path = `/v1/values/${created.body.id}`
    const read = await get(path)
    assert.is(read.body[field], as)
    assert.is((await change(`values/${created.body.id}`, { [field]: sent })).headers['etag'], read.headers['etag'])
    if (!('filter' in fields[field].options)) return
    for (const value of [sent, as]) {
      const found = await get(`/v1/values?${field}=${value}&name=${encodeURIComponent(name)}`)
      assert.equal(found.body.data, [read.body], value)
    }
  })
}

const digits = (max: number) => ({ max_digits: max })
const places = (max: number) => ({ decimal_places: max })
const refused: [field: keyof typeof fields, value: unknown, type: string, ctx?: object][] = [
  ['price', 12.5, 'decimal_type'],
  ['price', 12, 'decimal_type'],
  ['price', true, 'decimal_type'],
  ['price', [], 'decimal_type'],
  ['price', {}, 'decimal_type'],
  // biome-ignore format: one list
  ...[
    '', ' ', '+1', '.5', '1.', '1e3', '1,5', ' 1', '1 ', '1\n', '--1', '-', '0x10', 'NaN', 'Infinity', '١', '1_0',
  ].map((value): [keyof typeof fields, unknown, string] => ['price', value, 'decimal_parsing']),
  ['price', `${'0'.repeat(40)}7`, 'decimal_parsing'],
  ['price', `1.5${'0'.repeat(38)}`, 'decimal_parsing'],
  ['price', '1.505', 'decimal_max_places', places(2)],
  ['price', '0.001', 'decimal_max_places', places(2)],
  ['price', '-0.001', 'decimal_max_places', places(2)],
  ['price', '10000000000', 'decimal_max_digits', digits(12)],
  ['price', '-10000000000.00', 'decimal_max_digits', digits(12)],
  // Too many of both: the places are tested first.
  ['price', '99999999999.999', 'decimal_max_places', places(2)],
  ['exact', '100000000000000', 'decimal_max_digits', digits(18)],
  ['units', '1000000000000000000', 'decimal_max_digits', digits(18)],
  ['units', '0.5', 'decimal_max_places', places(0)],
  ['units', '9'.repeat(40), 'decimal_max_digits', digits(18)],
  ['units', '9'.repeat(41), 'decimal_parsing'],
  ['share', '1', 'decimal_max_digits', digits(3)],
  ['bounded', '-1.51', 'greater_than_equal', { ge: '-1.5' }],
  ['bounded', '100.01', 'less_than_equal', { le: '100' }],
  ['tag', 5, 'uuid_type'],
  ['tag', true, 'uuid_type'],
  ['tag', [], 'uuid_type'],
  ['tag', '', 'uuid_parsing'],
  ['tag', '0190d8a16f2e7c3a9b1d2f4e6a8c0b1d', 'uuid_parsing'],
  ['tag', '{0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d}', 'uuid_parsing'],
  ['tag', '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1', 'uuid_parsing'],
  ['tag', '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d1', 'uuid_parsing'],
  ['tag', '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1g', 'uuid_parsing'],
  ['tag', '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d\n', 'uuid_parsing'],
]

for (const [field, value, type, ctx] of refused) {
  test(`${field} refuses ${JSON.stringify(value)}: ${type}`, async () => {
    const { id } = (await create('values', {})).body
    const issue = { type, loc: ['body', field], ...(ctx && { ctx }) }
    for (const response of [
      await create('values', { [field]: value }),
      await change(`values/${id}`, { [field]: value }),
    ]) {
      assert.is(response.status, 422, response.text)
      assert.equal(issuesOf(response as never), [issue])
    }
  })
}

for (const [parameter, value, type, ctx] of [
  ['price', '1e3', 'decimal_parsing'],
  ['price', '', 'decimal_parsing'],
  ['price', '+1', 'decimal_parsing'],
  ['price', `${'0'.repeat(40)}7`, 'decimal_parsing'],
  ['price', '1.505', 'decimal_max_places', places(2)],
  ['price', '99999999999.999', 'decimal_max_places', places(2)],
  ['price', '10000000000', 'decimal_max_digits', digits(12)],
  ['price.gte', '1.505', 'decimal_max_places', places(2)],
  ['price.lt', 'x', 'decimal_parsing'],
  ['price.in', '1.505', 'decimal_max_places', places(2)],
  ['tag', '0190d8a1', 'uuid_parsing'],
  ['tag', '', 'uuid_parsing'],
  ['tag.in', 'x', 'uuid_parsing'],
] as const) {
  test(`the query ${parameter}=${value} is 422: ${type}`, async () => {
    const { status, body } = await get(`/v1/values?${parameter}=${encodeURIComponent(value)}`)
    assert.is(status, 422)
    const [issue] = body.detail
    assert.equal([issue.type, issue.loc.slice(0, 2), issue.ctx], [type, ['query', parameter], ctx])
  })
}

const prices = ['9.50', '10.00', '-3.00', '100.05', '-20.00', '0.00', null, '1.50']
const exact = ['90071992547409.9301', '90071992547409.9302', '90071992547409.9303']
for (const [n, price] of prices.entries())
  await create('sorted', { name: String(n), price, exact: exact[n] ?? null, tag: null })

const pricesOf = async (query: string, field = 'price') =>
  (await get(`/v1/sorted?limit=200&${query}`)).body.data.map((row: Record<string, unknown>) => row[field])

for (const [query, expected] of [
  ['sort=price', [null, '-20.00', '-3.00', '0.00', '1.50', '9.50', '10.00', '100.05']],
  ['sort=-price', ['100.05', '10.00', '9.50', '1.50', '0.00', '-3.00', '-20.00', null]],
  ['sort=price&price.gte=9.5', ['9.50', '10.00', '100.05']],
  ['sort=price&price.gt=9.500', ['10.00', '100.05']],
  ['sort=price&price.lte=-3', ['-20.00', '-3.00']],
  ['sort=price&price.lt=-3', ['-20.00']],
  ['sort=price&price.gt=-3&price.lt=09.5', ['0.00', '1.50']],
  ['price=1.5', ['1.50']],
  ['price=-0', ['0.00']],
  ['price=3', []],
  ['sort=price&price.in=1.5&price.in=010', ['1.50', '10.00']],
  ['price.null=true', [null]],
] as const) {
  test(`decimals are compared as numbers: ${query}`, async () => {
    assert.equal(await pricesOf(query), expected)
  })
}

test('decimals with more digits than a double are compared exactly', async () => {
  assert.equal(await pricesOf('exact.gt=90071992547409.9301&sort=exact', 'exact'), exact.slice(1))
  assert.equal(await pricesOf('exact=90071992547409.9302', 'exact'), [exact[1]])
  assert.equal(await pricesOf('exact.in=90071992547409.9303&exact.in=90071992547409.9301', 'exact'), [
    exact[0],
    exact[2],
  ])
})

test('the pages of a list that is sorted by a decimal continue one another', async () => {
  for (const sort of ['price', '-price', 'exact', '-exact']) {
    const rows = await followPages(service, `/api/v1/sorted?limit=1&sort=${sort}`)
    assert.equal(
      rows.map(({ name }) => name),
      await pricesOf(`sort=${sort}`, 'name'),
      sort,
    )
  }
})

test('unique decimals are compared as numbers, unique UUIDs in any case', async () => {
  const code = '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0bff'
  assert.is((await create('values', { rate: '1.5', code })).status, 201)
  const again = await create('values', { rate: '01.50', code: code.toUpperCase() })
  assert.equal(issuesOf(again as never), [
    { type: 'unique', loc: ['body', 'rate'] },
    { type: 'unique', loc: ['body', 'code'] },
  ])
})

test('UUIDs are found in any case, also several', async () => {
  const [one, other] = ['0190d8a1-0000-7000-8000-00000000abcd', '0190d8a1-0000-7000-8000-00000000abce']
  const ids = []
  for (const tag of [one, other.toUpperCase()]) ids.push((await create('values', { tag })).body.id)
  const found = async (query: string) =>
    (await get(`/v1/values?${query}`)).body.data.map(({ id }: { id: number }) => id)
  assert.equal(await found(`tag=${one.toUpperCase()}`), ids.slice(0, 1))
  assert.equal(await found(`tag=${other}`), ids.slice(1))
  assert.equal(await found(`tag.in=${one.toUpperCase()}&tag.in=${other}`), ids)
})

/** The text of the last member of a row. */
const dataText = (body: string): string => /"data":(.*)\}$/s.exec(body)?.[1] ?? ''
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const objects = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const kept: [name: string, sent: string, as?: string][] = [
  ['members in their order', '{"b":1,"a":2,"10":3,"9":4,"":5}'],
  ['numbers with their digits', '[1.0,1.50,1e400,-1E-400,12345678901234567890,0.1000,-0,1e2]'],
  ['a number alone', '1.0'],
  ['a large number alone', '1e400'],
  ['a string', '"plain"'],
  ['an empty string', '""'],
  ['a string with escapes', '"\\u0041\\n\\/\\"\\\\ \\ud83d\\ude00"'],
  ['white space inside strings', '{" a ":" b : , [ ] { } \\" "}'],
  ['a boolean', 'false'],
  ['an empty object', '{}'],
  ['an empty array', '[]'],
  ['a null inside', '[null,{"a":null}]'],
  ['names of the prototype', '{"__proto__":1,"constructor":{"prototype":2},"toString":3}'],
  ['the same name on two levels', '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}'],
  ['letters beyond ASCII', '{"ß😀":"İ\u2028"}'],
  ['no white space between tokens', ' {\t"b" : [ 1 ,\r\n 2 ] , "a" : { } } ', '{"b":[1,2],"a":{}}'],
  ['100 levels of arrays', nested(100)],
  ['100 levels of objects', objects(100)],
  ['64 KiB', `"${'x'.repeat(65_534)}"`],
  ['64 KiB in letters of two bytes', `"${'ß'.repeat(32_767)}"`],
  ['64 KiB after white space is removed', ` [ "${'x'.repeat(65_532)}" ] `, `["${'x'.repeat(65_532)}"]`],
  ['64 KiB of small values', `[${'1,'.repeat(32_766)}12]`],
]

for (const [name, sent, as = sent] of kept) {
  test(`JSON keeps ${name}`, async () => {
    const created = await create('values', `{"data":${sent}}`)
    assert.is(created.status, 201, created.text.slice(0, 500))
    assert.is(dataText(created.text), as)
    const { id } = created.body
    const read = await get(`/v1/values/${id}`)
    assert.is(dataText(read.text), as)
    const list = await get('/v1/values?limit=1&sort=-id')
    assert.ok(list.text.includes(`"data":${as}}`))
    // The same value again writes nothing; another and back does.
    const same = await change(`values/${id}`, `{ "data" : ${sent} }`)
    assert.equal([same.status, same.headers['etag']], [200, read.headers['etag']])
    assert.is(dataText((await change(`values/${id}`, '{"data":{"other":1}}')).text), '{"other":1}')
    const back = await change(`values/${id}`, `{"data":${sent}}`)
    assert.is(dataText(back.text), as)
  })
}

const bytes = { max_bytes: 65_536 }
const levels = { max_levels: 100 }
for (const [name, sent, type, ctx] of [
  ['one byte more than 64 KiB', `"${'x'.repeat(65_535)}"`, 'json_too_large', bytes],
  ['a letter of two bytes beyond 64 KiB', `"${'x'.repeat(65_533)}ß"`, 'json_too_large', bytes],
  ['101 levels of arrays', nested(101), 'json_too_deep', levels],
  ['101 levels of objects', objects(101), 'json_too_deep', levels],
  ['a repeated member', '{"a":1,"b":2,"a":3}', 'json_repeated_member'],
  ['a repeated member with an escape', '{"a":1,"\\u0061":3}', 'json_repeated_member'],
  ['a repeated member inside', '[{"b":{"a":1,"a":1}}]', 'json_repeated_member'],
  ['a NUL', '["a\\u0000b"]', 'string_unicode'],
  ['a NUL in a name', '{"\\u0000":1}', 'string_unicode'],
  ['a lone surrogate', '{"a":"\\ud800"}', 'string_unicode'],
  ['a lone surrogate in a name', '{"\\udc00x":1}', 'string_unicode'],
] as const) {
  test(`JSON refuses ${name}: ${type}`, async () => {
    const { id } = (await create('values', {})).body
    for (const response of [
      await create('values', `{"data":${sent}}`),
      await change(`values/${id}`, `{"name":"x","data":${sent}}`),
    ]) {
      assert.is(response.status, 422, response.text.slice(0, 300))
      assert.equal(issuesOf(response as never), [{ type, loc: ['body', 'data'], ...(ctx && { ctx }) }])
    }
    assert.is((await get(`/v1/values/${id}`)).body.name, null)
  })
}

test('an update replaces JSON whole, also as a merge patch', async () => {
  const { id } = (await create('values', { data: { a: 1, b: { c: 2 } } })).body
  for (const [type, sent] of [
    ['application/json', '{"b":{"d":null}}'],
    ['application/merge-patch+json', '{"a":null}'],
    ['application/merge-patch+json', '[]'],
  ] as const) {
    const headers = { ...authorized, 'content-type': type }
    const patched = await send(`/api/v1/values/${id}`, { method: 'PATCH', headers, body: `{"data":${sent}}` })
    assert.equal([patched.status, dataText(patched.text)], [200, sent])
  }
  assert.is((await change(`values/${id}`, { name: 'x' })).body.data.length, 0)
  assert.is((await change(`values/${id}`, { data: null })).body.data, null)
  assert.is((await get(`/v1/values/${id}`)).body.data, null)
})

test('of a field that is sent twice the last one counts', async () => {
  const { text } = await create('values', '{"data":{"a":1},"name":"x","data":[1.0]}')
  assert.is(dataText(text), '[1.0]')
})

test('numbers inside JSON may have more digits than a double, those of number fields may not', async () => {
  const long = '1.00000000000000000001'
  assert.is((await create('settings', `{"data":{"level":${long}},"level":1}`)).status, 201)
  const refused = await create('settings', `{"data":{"level":1},"level":${long}}`)
  assert.equal(issuesOf(refused as never), [{ type: 'number_precision', loc: ['body', 'level'] }])
})

test('required JSON is missing when it is not sent or null', async () => {
  for (const body of [{}, { data: null }]) {
    const response = await create('settings', body)
    assert.equal([response.status, ...issuesOf(response as never)], [422, { type: 'missing', loc: ['body', 'data'] }])
  }
  const { id } = (await create('settings', { data: 0 })).body
  const response = await change(`settings/${id}`, { data: null })
  assert.equal(response.status, 422)
  assert.equal((await get(`/v1/settings/${id}`)).body.data, 0)
})

test('JSON has its default, and is never returned where it is redacted', async () => {
  const created = await create('presets', '{"secret":{"key":"SECRET"}}')
  assert.match(created.text, '"data":{"b":1,"a":[]},"secret":null')
  const { id } = created.body
  const wrong = await change(`presets/${id}`, '{"secret":{"SECRET":1,"SECRET":2}}')
  assert.is(wrong.status, 422)
  assert.not.match(wrong.text, /SECRET/)
})

test('JSON is neither searched nor a parameter', async () => {
  await create('values', { data: 'needle in a haystack' })
  assert.is((await get('/v1/values?q=needle')).body.meta.total, 0)
  const { paths } = (await get('/openapi.json')).body
  const names = paths['/v1/values'].get.parameters.map(({ name }: { name: string }) => name)
  assert.not.match(names.join(), /data/)
  assert.ok(names.includes('price.gte') && names.includes('tag.in') && !names.includes('tag.gte'))
})

const downloaded: [sent: string, cell: string][] = [
  ['{"a":"x, \\"y\\"","b":[1.0,2]}', '"{""a"":""x, \\""y\\"""",""b"":[1.0,2]}"'],
  ['"plain"', '"""plain"""'],
  ['""', '""""""'],
  ['"null"', '"""null"""'],
  ['"a\\nb"', '"""a\\nb"""'],
  ['1e400', '1e400'],
  ['true', 'true'],
  ['{}', '{}'],
  ['[]', '[]'],
  ['[1]', '[1]'],
  ['["]"]', '"[""]""]"'],
  ['null', ''],
]

test('a cell of CSV is the JSON text, and a line of NDJSON has the value', async () => {
  for (const [sent] of downloaded) await create('values', `{"name":"download","price":"-0.5","data":${sent}}`)
  const csv = await send('/api/v1/values?name=download', { headers: { accept: 'text/csv' } })
  const cells = csv.text.split('\r\n').slice(1, -1)
  assert.equal(
    cells.map((line) => line.replace(/^\d+,download,-0\.50,,,,,,,,/, '')),
    downloaded.map(([, cell]) => cell),
  )
  const lines = await send('/api/v1/values?name=download', { headers: { accept: 'application/x-ndjson' } })
  assert.equal(
    lines.text.split('\n').slice(0, -1).map(dataText),
    downloaded.map(([sent]) => sent),
  )
})

test('a cell of CSV is the JSON text where another follows', async () => {
  const given = downloaded.filter(([sent]) => sent !== 'null')
  for (const [sent] of given) await create('settings', `{"data":${sent},"note":"a, b"}`)
  const csv = await send('/api/v1/settings?sort=id', { headers: { accept: 'text/csv' } })
  assert.equal(
    csv.text
      .split('\r\n')
      .slice(-given.length - 1, -1)
      .map((line) => line.replace(/^\d+,,/, '')),
    given.map(([, cell]) => `${cell},"a, b"`),
  )
})

test('the documents state what is accepted', async () => {
  const { Value, ValueCreate } = (await get('/openapi.json')).body.components.schemas
  assert.equal([Value.properties.tag.format, Value.properties.price.format], ['uuid', 'decimal'])
  assert.equal(ValueCreate.properties.price.type, ['string', 'null'])
})

test.run()
