/** The import page: who has it, its template, and imports of a session. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text, timestamp } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { sessionOf, startService, token } from '../support/service.js'

const fields = {
  name: text(),
  code: text({ unique: true }),
  salary: integer({ readBy: ['hr'] }),
  grade: text({
    writeBy: 'hr',
    default: 'new',
    oneOf: ['new', 'old'],
    next: { new: ['old'] },
    start: ['new'],
  }),
  changed: timestamp({ managed: true }),
}
const people = resourceIn('people', fields, {
  plural: 'People',
  required: ['name'],
  update: true,
  import: true,
  access: { read: ['hr', 'desk'], create: ['hr', 'desk'], update: 'hr' },
})
const open = resourceIn('open', { name: text() }, { import: true })
const closed = resourceIn('closed', { name: text() })
const service = await startService({
  registry: [people, open, closed],
  explorer: true,
  credentials: callersNamed({ hr: { roles: ['hr'] }, desk: { roles: ['desk'] }, guest: { roles: [] } }),
})
const cookies: Record<string, string> = {}
for (const key of ['hr', 'desk', 'guest', token]) cookies[key] = await sessionOf(service.address, key)
const page = (path: string, name?: string) =>
  service.send(path, { headers: { accept: 'text/html', ...(name && { cookie: cookies[name] as string }) } })

const test = suite('import in the explorer')

test('the link and the page are there for who may create rows, where they can be imported', async () => {
  assert.match((await page('/explore/open')).text, /href="\/explore\/open\/import"/)
  assert.not.match((await page('/explore/closed')).text, /\/import"/)
  assert.not.match((await page('/explore/open', 'guest')).text, /\/import"/)
  for (const [path, visitor, status] of [
    ['open', undefined, 200],
    ['open', 'guest', 404],
    ['closed', token, 404],
    ['people', undefined, 401],
    ['people', 'guest', 403],
    ['people', 'desk', 200],
  ] as const)
    for (const name of ['import', 'template.csv'])
      assert.is((await page(`/explore/${path}/${name}`, visitor)).status, status, `${path}/${name} of ${visitor}`)
})

test('a template has the columns that the visitor may set', async () => {
  const { text: source, headers } = await page('/explore/people/template.csv', 'hr')
  assert.is(source, 'name,code,salary,grade\r\n')
  assert.is(headers['content-disposition'], 'attachment; filename="people-template.csv"')
  assert.match(String(headers['content-type']), /^text\/csv/)
  assert.is((await page('/explore/people/template.csv', 'desk')).text, 'name,code\r\n')
})

test('the page names the columns, those that the service sets, and what rows can be matched by', async () => {
  const { text: source } = await page('/explore/people/import', 'hr')
  assert.match(source, /not read from the file: <code>id<\/code>, <code>changed<\/code>/)
  assert.match(source, /<option value="id">[\s\S]*<option value="code">Change the row that has the same Code</)
  const desk = (await page('/explore/people/import', 'desk')).text
  assert.not.match(desk, /salary|id="match"/)
})

test('a field that other roles set is no column; its empty cells are nothing, and its values are left out by a button', async () => {
  const desk = (await page('/explore/people/import', 'desk')).text
  assert.match(desk, /a file must have no values of: <code>grade<\/code>/)
  assert.not.match(desk, /Grade/)
  assert.match((await page('/explore/people/import', 'hr')).text, /Grade[\s\S]*new, old; in a new row new</)
  const cookie = { cookie: cookies['desk'] as string }
  const store = { 'form.step': 'store' }
  assert.is((await send(store, 'name,grade\nEmpty,\n', cookie)).status, 303)
  const filled = 'name,grade\nFilled,new\nMore,old\n'
  const wrong = await send({}, filled, cookie)
  assert.is(wrong.status, 422)
  const button = '<button name="ignore" value="grade">Leave it out</button>'
  assert.is(wrong.text.split(`grade is set only by hr; remove it. ${button}`).length, 2, wrong.text)
  assert.is((await send({ ...store, ignore: 'grade' }, filled, cookie)).status, 303)
  assert.is((await send(store, 'name,grade\nChief,old\n')).status, 422)
  const { data } = (await service.send('/api/v1/people', { headers: { authorization: `Bearer ${token}` } })).body
  const grades = data.map(({ name, grade }: { name: string; grade: string }) => [name, grade])
  assert.equal(grades, [
    ['Empty', 'new'],
    ['Filled', 'new'],
    ['More', 'new'],
  ])
})

/** Posts a file as browsers do. */
const send = (values: Record<string, string>, file: string | Buffer, headers: Record<string, string> = {}) => {
  const parts = Object.entries(values).map(
    ([name, value]) => `--line\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head = `${parts.join('')}--line\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n`
  return service.send('/explore/people/import', {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=line',
      cookie: cookies['hr'] as string,
      origin: service.address,
      ...headers,
    },
    body: Buffer.concat([Buffer.from(head), Buffer.from(file), Buffer.from('\r\n--line--\r\n')]),
  })
}

test('a session imports, with its rights and from a page of this service only', async () => {
  const body = 'name,code,salary,id\nAda,A,1,7\n'
  const checked = await send({}, body)
  assert.is(checked.status, 200)
  assert.match(checked.text, /1 row: 1 new, 0 changed, 0 unchanged\./)
  assert.is((await send({}, body, { origin: '' })).status, 403)
  assert.is((await send({}, body, { cookie: '' })).status, 401)
  const desk = await send({}, body, { cookie: cookies['desk'] as string })
  assert.is(desk.status, 422)
  assert.match(desk.text, /salary cannot be set[^<]*<button name="ignore" value="salary">Leave it out</)
  const key = { 'form.step': 'store', 'form.key': 'once' }
  assert.equal((await send(key, body)).headers.location, '/explore/people')
  // Sent again with its key, it is stored once; other rows with this key are refused.
  assert.is((await send(key, body)).status, 303)
  assert.match((await send({ 'form.step': 'store' }, body)).text, /code must be unique/i)
  assert.is((await send(key, body.replace('Ada', 'Bea'))).status, 422)
})

test('errors are at the cells of their lines; the limits are those of the API', async () => {
  const wrong = await send({}, 'name,code\r\n"A\r\nB",B\r\n,C\r\nD,B\r\n')
  assert.match(wrong.text, /Nothing was imported: 2 errors\./)
  assert.match(wrong.text, /<th scope="row">4<\/th><td class="wrong"><bdi><\/bdi><small class="issue">name /)
  assert.match(wrong.text, /<th scope="row">5<\/th><td class=""><bdi>D<\/bdi><\/td><td class="wrong"><bdi>B<\/bdi>/)
  const many = await send({}, `name\n${'a\n'.repeat(10_001)}`)
  assert.is(many.status, 413)
  assert.match(many.text, /more than 10000 rows/)
  // A file of the greatest size has its form around it.
  const large = Buffer.alloc(16 * 1024 * 1024, 'name\n')
  assert.is((await send({}, large)).status, 413)
  assert.match((await send({}, Buffer.concat([large, large]))).text, /exceeds the limit/)
  assert.is((await send({}, '')).status, 422)
})

test.run()
