/** How PostgreSQL writes numbers and strings and folds case, compared with SQLite and the engine. */

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
const evaluate = async (expression: string, values: readonly unknown[]): Promise<unknown[]> => {
  const sql = `select ${expression} as made from unnest($1::text[]) with ordinality as given(value, n) order by n`
  return (await runOn(url, sql, [values])).map(({ made }) => made)
}

const test = suite('values on PostgreSQL')

/** The JSON of rows whose only field is called value. */
const json = rowJson({ fields: [{ name: 'value', kind: 'text', redacted: false }] } as unknown as Resource)

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
    await evaluate(json, texts),
    texts.map((text) => `{"value":${quote.get(text)}}`),
  )
})

test('case folding equals the engine’s, whatever the server’s locale', async () => {
  const texts = allCharacters()
  assert.equal(await evaluate('registry_searched(array[value])', texts), texts.map(fold))
  const folded = texts.map(fold)
  assert.equal(folded.map(fold), folded, 'folding is idempotent')
})

test('texts too long for an index are distinguished by their hash', async () => {
  const [one, other] = ['x'.repeat(5_000), `${'x'.repeat(4_999)}y`]
  const keys = await evaluate('registry_key(value)', ['short', one, other])
  assert.is(keys[0], 'short')
  assert.is.not(keys[1], keys[2])
  assert.ok(keys.every((key) => String(key).length < 600))
})

test.run()
