/** The PostgreSQL functions for numbers, strings and case folding, compared with SQLite and the engine. */

import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource } from '../../engine/descriptor/registry.js'
import { fold } from '../../engine/storage/caseFold.js'
import { openStorage } from '../../engine/storage/open.js'
import { rowJson } from '../../engine/storage/postgres/schema.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, runOn } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { inOffice, office } from '../support/office.js'

const url = await freshUrl()
await (await openStorage(office, url, { ...storageOptions, demo: false })).close()
const sqlite = new Database(':memory:')

/** Evaluates an expression for each value. */
const evaluate = async (expression: string, type: string, values: readonly unknown[]): Promise<unknown[]> => {
  const sql = `select ${expression} as made from unnest($1::${type}[]) with ordinality as given(value, n) order by n`
  return (await runOn(url, sql, [values])).map(({ made }) => made)
}

const test = suite('values on PostgreSQL')

/** Doubles of every magnitude and precision, from a fixed seed. */
const doubles = (): number[] => {
  let seed = 20_240_229n
  const random = () => {
    seed = (seed * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n
    return seed
  }
  const [double, bits] = [new Float64Array(1), new BigUint64Array(1)]
  const fromBits = (value: bigint) => {
    bits[0] = value
    double.set(new Float64Array(bits.buffer))
    return double[0] as number
  }
  const below = (n: number) => Number(random() % BigInt(n))
  return [
    ...[0, -0, 3, -2.5, 49.47, 1e15, 1e16, 1e17, 1e18, 1e19, 1e21, 1e22, 1e23, 2 ** 53, 2 ** 63, -(2 ** 63)],
    ...[2 ** 63 - 1024, 1e-4, 1e-5, 1e-7, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3],
    ...Array.from({ length: 8_000 }, () => fromBits(random())),
    ...Array.from({ length: 2_000 }, () => fromBits(random() % 2n ** 52n)),
    ...Array.from({ length: 8_000 }, () => Number(`${random() % 10n ** BigInt(1 + below(16))}e${below(600) - 308}`)),
    ...Array.from({ length: 8_000 }, () => below(10_000_000) / 100),
    ...Array.from({ length: 4_000 }, () => below(100_000_000) / 10 ** below(9)),
  ].filter(Number.isFinite)
}

/** The JSON of rows whose only field is called value. */
const jsonOf = (kind: 'number' | 'text'): string =>
  rowJson({ fields: [{ name: 'value', kind, redacted: false }] } as unknown as Resource)

test('every number is valid JSON and parses to the same number', async () => {
  const values = doubles()
  const printed = await evaluate(jsonOf('number'), 'double precision', values)
  for (const [n, value] of values.entries()) assert.equal(JSON.parse(String(printed[n])), { value: value + 0 })
  assert.equal(
    await evaluate(jsonOf('number'), 'double precision', ['NaN', 'Infinity', '-Infinity']),
    Array.from({ length: 3 }, () => '{"value":null}'),
  )
})

test('numbers are exact on a server that prints fewer digits', async () => {
  const database = await freshUrl()
  await runOn(database, `alter database ${new URL(database).pathname.slice(1)} set extra_float_digits = -15`)
  const storage = await openStorage(office, database, { ...storageOptions, demo: false })
  const leave = inOffice('leave')
  const created = await storage
    .table(leave)
    .write(insertion({ leave_type: 'Annual', status: 'Pending', days: 0.30000000000000004 }))
  assert.match(String('body' in created && created.body), /"days":0\.30000000000000004,/)
  await storage.close()
})

/** All code points except NUL and surrogates, in texts of a thousand. */
const allCharacters = (): string[] => {
  const points = Array.from({ length: 0x10_ffff }, (_, n) => n + 1).filter((point) => point < 0xd800 || point > 0xdfff)
  return Array.from({ length: Math.ceil(points.length / 1_000) }, (_, n) =>
    String.fromCodePoint(...points.slice(n * 1_000, (n + 1) * 1_000)),
  )
}

test('strings are quoted as SQLite quotes them', async () => {
  const texts = allCharacters()
  const quote = sqlite.prepare('select json_quote(?)').pluck()
  assert.equal(
    await evaluate(jsonOf('text'), 'text', texts),
    texts.map((text) => `{"value":${quote.get(text)}}`),
  )
})

test('case folding equals the engine’s, whatever the server’s locale', async () => {
  const texts = allCharacters()
  assert.equal(await evaluate('registry_searched(array[value])', 'text', texts), texts.map(fold))
  const folded = texts.map(fold)
  assert.equal(folded.map(fold), folded, 'folding is idempotent')
})

test('texts too long for an index are distinguished by their hash', async () => {
  const [one, other] = ['x'.repeat(5_000), `${'x'.repeat(4_999)}y`]
  const keys = await evaluate('registry_key(value)', 'text', ['short', one, other])
  assert.is(keys[0], 'short')
  assert.is.not(keys[1], keys[2])
  assert.ok(keys.every((key) => String(key).length < 600))
})

test.run()
