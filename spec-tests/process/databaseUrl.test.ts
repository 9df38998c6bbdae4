/** Database URLs: their parts, the messages for what is not supported, and how they are printed. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePostgresUrl, publicDatabaseUrl } from '../../engine/process/databaseUrl.js'

const test = suite('database URLs')

const empty = { user: '', password: '', host: '', port: '', database: '', parameters: {} }

const valid: [url: string, parts: Partial<ReturnType<typeof parsePostgresUrl>>, shown: string][] = [
  ['postgres://', {}, 'postgres:///'],
  ['postgresql://host', { host: 'host' }, 'postgresql://host/'],
  [
    'postgres://me:secret@host:5433/name',
    { user: 'me', password: 'secret', host: 'host', port: '5433', database: 'name' },
    'postgres://host:5433/name',
  ],
  [
    'postgres://me@/name?host=/var/run/postgresql',
    { user: 'me', host: '/var/run/postgresql', database: 'name' },
    'postgres:///name?host=/var/run/postgresql',
  ],
  [
    'postgres://me@%2Fvar%2Frun%2Fpostgresql/name',
    { user: 'me', host: '/var/run/postgresql', database: 'name' },
    'postgres:///name?host=/var/run/postgresql',
  ],
  ['postgres://[::1]:5433/name', { host: '::1', port: '5433', database: 'name' }, 'postgres://[::1]:5433/name'],
  [
    'postgres://me:p%40ss%2Fw%23r%3Fd%25@host/na%20me',
    { user: 'me', password: 'p@ss/w#r?d%', host: 'host', database: 'na me' },
    'postgres://host/na me',
  ],
  [
    'postgres://me:s@cret%zz:100%@host/name',
    { user: 'me', password: 's@cret%zz:100%', host: 'host', database: 'name' },
    'postgres://host/name',
  ],
  [
    'postgres://host/name?user=me@tenant&password=s@cret&port=6&sslmode=require&application_name=a%26b',
    {
      user: 'me@tenant',
      password: 's@cret',
      host: 'host',
      port: '6',
      database: 'name',
      parameters: { sslmode: 'require', application_name: 'a&b' },
    },
    'postgres://host:6/name',
  ],
  ['postgres://host/name\n', { host: 'host', database: 'name' }, 'postgres://host/name'],
]
for (const [url, parts, shown] of valid) {
  test(`${JSON.stringify(url)} has its parts, and is shown without user, password and parameters`, () => {
    assert.equal(parsePostgresUrl(url), { ...empty, ...parts })
    assert.is(publicDatabaseUrl(url), shown)
  })
}

/** Each has parts of the password `SEC…RET`. */
const invalid: [url: string, message: RegExp][] = [
  ['postgres://me:SEC@RET/SEC#RET@host:5432/name', /does not look like .*write "@" as %40, "\/" as %2F/],
  ['postgres://me:SEC/RET@host/name', /does not look like/],
  ['postgres://me:12/RET@host/name', /does not look like/],
  ['postgres://me:SEC#RET@host/name', /does not look like/],
  ['postgres://me:SEC?RET@host/name', /does not look like/],
  ['postgres://me:12?RET@host/name', /does not look like/],
  ['postgres://me:12?RET=SEC@host/name', /does not look like/],
  ['postgres://me:12?RET&SEC@host/name', /does not look like/],
  ['postgres://me:SEC@RET/name#SEC', /does not look like/],
  ['postgres:/me:SECRET@host/name', /does not look like/],
  ['postgres://host=localhost user=me password=SECRET', /does not look like/],
  ['postgres://localhost/name password=SECRET', /does not look like/],
  ['postgres://me:SECRET/name', /the port in its URL is not a number from 1 to 65535\. .*":" as %3A/],
  ['postgres://me:SECRET@host:port/name', /the port in its URL/],
  ['postgres://me:SECRET@host:65536/name', /the port in its URL/],
  ['postgres://me:SECRET@host/name?port=0', /the port in its URL/],
  ['postgres://me:SECRET@one:5432,two:5432/name', /names several hosts\. Name one/],
  ['postgres://me:SECRET@/name?host=one,two', /names several hosts/],
]
for (const [url, message] of invalid) {
  test(`${url} is rejected without printing any of it`, () => {
    assert.throws(
      () => parsePostgresUrl(url),
      (error: Error) => message.test(error.message) && !/SEC|RET/.test(error.message),
    )
    assert.is(publicDatabaseUrl(url), 'postgres://…')
  })
}

test('what is no URL of a known database is printed only if it cannot have a password', () => {
  for (const url of ['mysql://nowhere', 'data/workforce.sqlite', 'C:\\data'.slice(2), 'sqlite:a@b'])
    assert.is(publicDatabaseUrl(url), url)
  // biome-ignore format: one list
  for (const url of [
    'mysql://me:secret@host/name', 'me:secret@host/name', 'host=localhost password=secret',
    'host/name?password=secret', 'POSTGRES://me:secret@host/name?x@y', 'sqlite:postgres://me:secret@host/name',
  ]) {
    assert.not.match(publicDatabaseUrl(url), /secret/)
  }
})

test.run()
