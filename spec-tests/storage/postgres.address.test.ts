/** Addresses of PostgreSQL: Unix sockets, each sslmode, and what is printed if they cannot be used. */
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../support/cleanup.js'
import { freshUrl, runOn, server } from '../support/database.js'
import { startOnce, thingsWith } from '../support/things.js'
import { startTlsProxy } from '../support/tlsProxy.js'

const test = suite('addresses of PostgreSQL')

/** Starts and stops; returns the message of an error. */
const open = (url: string): Promise<string> =>
  startOnce(thingsWith(), url).then(
    () => 'works',
    (error: Error) => error.message,
  )

test('a Unix socket is used if the host is its folder', async () => {
  const { username, password, hostname, port, pathname } = new URL(await freshUrl())
  const { path: folder } = temporaryFolder('socket')
  const proxy = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    client.pipe(upstream).pipe(client)
    client.on('error', () => {})
    upstream.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(join(folder, '.s.PGSQL.5432'), resolve))
  const login = `${username}:${password}`
  assert.is(await open(`postgres://${login}@${pathname}?host=${folder}`), 'works')
  assert.is(await open(`postgres://${login}@${encodeURIComponent(folder)}${pathname}?sslmode=require`), 'works')
  proxy.close()
  const missing = `${folder}/missing`
  assert.match(await open(`postgres://${login}@${pathname}?host=${missing}`), new RegExp(`host=${missing} .*ENOENT`))
})

test('a server without TLS is reached with sslmode=disable, allow and prefer', async () => {
  const url = await freshUrl()
  for (const mode of ['disable', 'allow', 'prefer']) assert.is(await open(`${url}?sslmode=${mode}`), 'works', mode)
  for (const mode of ['require', 'verify-full']) assert.match(await open(`${url}?sslmode=${mode}`), /SSL/, mode)
  assert.match(await open(`${url}?sslmode=verify-ca`), /sslmode=verify-ca needs sslrootcert/)
})

const proxy = await startTlsProxy(String(server))
if (!proxy) console.log('openssl is not installed; the tests of TLS are skipped.')

;(proxy ? test : test.skip)(
  'a server with TLS is reached with each sslmode that its certificate satisfies',
  async () => {
    const { port, certificate } = proxy as NonNullable<typeof proxy>
    const url = new URL(await freshUrl())
    const through = (host: string, parameters: string) => {
      url.host = `${host}:${port}`
      return open(`${url.href}?${parameters}`)
    }
    const root = `&sslrootcert=${certificate}`
    for (const parameters of [
      'sslmode=allow',
      'sslmode=prefer',
      'sslmode=require',
      `sslmode=require${root}`,
      `sslmode=verify-ca${root}`,
    ]) {
      assert.is(await through('127.0.0.1', parameters), 'works', parameters)
    }
    assert.is(await through('localhost', `sslmode=verify-full${root}`), 'works')
    assert.match(
      await through('127.0.0.1', 'sslmode=disable'),
      /no encryption\. If the server demands TLS, add sslmode=require/,
    )
    assert.match(await through('127.0.0.1', 'sslmode=verify-full'), /self-signed certificate/)
    assert.match(await through('127.0.0.1', `sslmode=verify-full${root}`), /does not match certificate/)
  },
)

test('databases that only speak the protocol are served without triggers', async () => {
  for (const version of ['CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu)', 'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64']) {
    const url = await freshUrl()
    await runOn(url, `create function version() returns text language sql return '${version}'`)
    await runOn(url, `alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`)
    assert.is(await open(url), 'works')
    const triggers = await runOn(url, 'select tgname from pg_trigger where not tgisinternal')
    assert.equal(triggers, [])
  }
})

test('an unusable server or database stops the start, and no part of a password is printed', async () => {
  const url = new URL(await freshUrl())
  const changed = (change: Partial<URL>) => Object.assign(new URL(url), change).href
  const wrong: [url: string, message: RegExp][] = [
    ['postgres://me:p@SEC/RET@127.0.0.1:1/name', /./],
    ['postgres://me:SECRET@127.0.0.1:1/name?password=SECRET', /ECONNREFUSED/],
    // A server with trust authentication accepts any password.
    ...((url.password
      ? [
          [changed({ password: 'SECRET' }), /password authentication failed/],
          [changed({ password: '' }), /the server demands a password; write it in the URL/],
        ]
      : []) as [string, RegExp][]),
    [changed({ pathname: '/nowhere' }), /"nowhere" does not exist/],
    [changed({ search: '?sslmode=maybe' }), /sslmode is "maybe"; it must be one of disable/],
  ]
  for (const [address, reason] of wrong) {
    const message = await open(address)
    assert.match(message, /^The database postgres:\S+ cannot be used: /)
    assert.match(message, reason)
    assert.not.match(message, /SEC|RET|of-the-tests/)
  }
})

test.run()
