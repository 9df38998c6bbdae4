/** The file of subscribers: what is wrong in it, and which addresses a receiver may have. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim, integer, text } from '../../engine/descriptor/index.js'
import { isPrivateAddress } from '../../engine/webhooks/addresses.js'
import { deliver, publicLookup } from '../../engine/webhooks/deliver.js'
import { pauseAfter } from '../../engine/webhooks/schedule.js'
import { parseSubscribers } from '../../engine/webhooks/subscribers.js'
import { secretOf, startReceiver } from '../support/receiver.js'
import { registryFrom } from '../support/registryFrom.js'

const fields = { owner: integer({ filter: true }), title: text() }
const open = { area: 'Test', required: [], create: true, changes: true, fields }
const registry = registryFrom({
  tasks: { ...open, name: 'Task', table: 'tasks', access: { read: ['hr', { owner: claim('owner') }] } },
  tags: { ...open, name: 'Tag', table: 'tags' },
  rooms: { ...open, name: 'Room', table: 'rooms', changes: false },
})

const secret = secretOf('a secret that is in no message')
const url = 'https://user-agent.example/hook?key=hidden'
const entry = (more: object = {}) => ({ name: 'erp', url, secret, resources: ['tags'], ...more })
const read = (entries: unknown, allowPrivate = false) =>
  parseSubscribers(typeof entries === 'string' ? entries : JSON.stringify(entries), registry, allowPrivate)

const test = suite('subscribers of webhooks')

for (const [what, given, message] of [
  ['no JSON', '[{', /^it is not valid JSON$/],
  ['no list', '{}', /^it is not a JSON array$/],
  ['no url', [{ ...entry(), url: undefined }], /^subscriber 1 is not valid \(url\); a subscriber has a name/],
  ['an unknown member', [entry({ resource: 'tags' })], /^subscriber 1 is not valid \(/],
  ['a secret without its prefix', [entry({ secret: 'c2VjcmV0' })], /\(secret\)/],
  ['a secret that is no base64', [entry({ secret: 'whsec_c2Vjc*' })], /\(secret\)/],
  ['three secrets', [entry({ secret: `${secret} ${secret} ${secret}` })], /\(secret\)/],
  ['no resource', [entry({ resources: [] })], /\(resources\)/],
  ['roles that are a text', [entry({ roles: 'hr' })], /\(roles\)/],
  ['a repeated name', [entry(), entry()], /^two subscribers have the same name: erp$/],
  [
    'an unknown resource',
    [entry({ resources: ['tgas'] })],
    /^subscriber "erp": unknown resource "tgas"\. Did you mean "tags"\?$/,
  ],
  [
    'a resource without changes',
    [entry({ resources: ['rooms'] })],
    /"rooms" has no changes: true; it can be told of tags$/,
  ],
  [
    'a resource that it may not read',
    [entry({ resources: ['tasks'] })],
    /may not read "tasks"\. Did you mean "tags"\?$/,
  ],
  ['a claim that is not a value', [entry({ resources: ['tasks'], claims: { owner: 'x' } })], /may not read "tasks"/],
  ['no address', [entry({ url: 'hidden' })], /its url is not an address/],
  ['http', [entry({ url: 'http://receiver.example' })], /does not begin with https:/],
  ['ftp', [entry({ url: 'ftp://receiver.example' })], /does not begin with https:/],
  ['a user in the url', [entry({ url: 'https://hidden@receiver.example' })], /has a user or a password/],
  ['a private address', [entry({ url: 'https://10.0.0.1' })], /has a private address \(WEBHOOKS_ALLOW_PRIVATE=true/],
  ['a private address in another form', [entry({ url: 'https://0x7f.1' })], /private address/],
  ['a private IPv6 address', [entry({ url: 'https://[::ffff:10.0.0.1]/' })], /private address/],
] as const) {
  test(`a file with ${what} is refused, and neither a secret nor a url is shown`, () => {
    try {
      read(given)
      assert.unreachable()
    } catch (error) {
      assert.match((error as Error).message, message)
      assert.not.match((error as Error).message, /whsec_\w{9}|hidden/)
    }
  })
}

test('roles and claims say what a subscriber may read', () => {
  const [byRole, byClaim] = read([
    entry({ resources: ['tasks', 'tags'], roles: ['hr'] }),
    entry({ name: 'crm', resources: ['tasks'], claims: { owner: [1, 2] } }),
  ])
  const [tasks] = registry
  assert.is(byRole?.rights.of(tasks as never).read, 'all')
  assert.equal(byClaim?.rights.of(tasks as never).read, [{ owner: [1n, 2n] }])
})

test('http and private addresses are allowed where the setting says so, a user in the url is not', () => {
  for (const allowed of ['http://10.0.0.1/hook', 'http://localhost:8080', 'https://[::1]'])
    assert.is(read([entry({ url: allowed })], true)[0]?.url.href.startsWith('http'), true)
  assert.throws(() => read([entry({ url: 'http://a:b@localhost' })], true), /user or a password/)
})

test('another form of the same entry is the same, and every value of it counts', () => {
  const digest = (more: object, space = 0) => read(JSON.stringify([entry(more)], null, space))[0]?.digest
  assert.is(digest({}), digest({}, 2))
  const changes = [
    { secret: secretOf('b') },
    { url: 'https://receiver.example' },
    { roles: ['hr'] },
    { claims: { a: 1 } },
  ]
  assert.is(new Set([{}, ...changes].map((more) => digest(more))).size, 5)
})

test('private addresses are known in every notation', () => {
  // biome-ignore format: a table
  for (const address of [
    '0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1',
    '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', 'fc00::1', 'fd12::1', 'fe80::1',
    'fec0::1', 'ff02::1', '64:ff9b::10.0.0.1', '64:ff9b:1::1', '2001::1', '2002:7f00:1::', '2001:db8::1', '100::1',
  ])
    assert.ok(isPrivateAddress(address), address)
  for (const address of ['8.8.8.8', '100.63.255.255', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])
    assert.not(isPrivateAddress(address), address)
})

test('a name with a private address is refused when it is resolved, and nothing is sent', async () => {
  const { url: address, received } = await startReceiver()
  const attempt = (to: URL) =>
    deliver(
      { id: 'msg_1', body: '{}' },
      { url: to, secrets: [] },
      { allowPrivate: false, signal: new AbortController().signal },
    )
  const named = Object.assign(new URL(address), { hostname: 'localhost' })
  for (const to of [named, new URL(address)])
    await attempt(to).then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, /is a private address, which only WEBHOOKS_ALLOW_PRIVATE=true/),
    )
  for (const all of [true, false])
    publicLookup('localhost', { all }, (error) => assert.match(String(error), /is a private address/))
  assert.is(received.length, 0)
})

test('pauses double to an hour, and a receiver may ask for others up to a day', () => {
  for (const [attempts, seconds] of [
    [1, 5],
    [2, 10],
    [4, 40],
    [10, 2_560],
    [11, 3_600],
    [500, 3_600],
  ] as const) {
    const pause = pauseAfter(attempts) / 1_000
    assert.ok(pause >= seconds && pause <= seconds * 1.2, `${attempts}: ${pause} s`)
  }
  assert.is(pauseAfter(9, '30'), 30_000)
  assert.is(pauseAfter(1, '1000000'), 86_400_000)
  assert.is(pauseAfter(1, 'Thu, 01 Jan 2026 00:01:00 GMT', Date.UTC(2026, 0, 1)), 60_000)
  assert.is(pauseAfter(1, '0'), 1_000)
  assert.ok(pauseAfter(1, 'soon') >= 5_000)
})

test.run()
