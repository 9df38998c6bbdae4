/** Pages by offset whatever the ids are: dense, with holes, far apart or random. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { migrateStorage, openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { resourceIn } from '../support/registryFrom.js'

const registry: Registry = [resourceIn('things', { name: text() }, { required: ['name'] })]
const [things] = registry as [Resource]

/** A generator of 64-bit numbers that gives the same ones in every run. */
let seed = 1n
const random = (): bigint => {
  seed = BigInt.asUintN(64, seed * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n)
  return BigInt.asIntN(64, seed ^ (seed >> 29n))
}
const range = (length: number, id: (n: bigint) => bigint) => Array.from({ length }, (_, n) => id(BigInt(n)))
const [minId, maxId] = [-(2n ** 63n), 2n ** 63n - 1n]

const cases: [name: string, ids: bigint[]][] = [
  ['dense', range(9_000, (n) => n + 1n)],
  ['4,096 apart', range(12_000, (n) => (n + 1n) * 4_096n)],
  ['random in the whole range', [minId, maxId, ...range(12_000, random)]],
  ['dense with a few far away', [...range(9_000, (n) => n), ...range(20, random)]],
  ['descending', range(9_000, (n) => -n * 3n)],
  ['first far apart, then dense between', [...range(3_000, (n) => n * 8_192n), ...range(9_000, (n) => n + 1n)]],
]

const insert = async (database: SharedDatabase, ids: readonly bigint[]): Promise<void> => {
  for (let from = 0; from < ids.length; from += 2_500) {
    const values = ids.slice(from, from + 2_500).map((id) => `(${id}, 'Row ${id}')`)
    await database.run(`insert into things (id, name) values ${values.join()} on conflict do nothing`)
  }
}

/** Compares pages at some offsets, a search and the total with the ids, which are in no order. */
const checkPages = async ({ url }: SharedDatabase, stored: readonly bigint[]): Promise<void> => {
  const ids = [...new Set(stored)].sort((a, b) => (a < b ? -1 : 1))
  const storage = await openStorage(registry, url, { ...storageOptions, demo: false })
  const list = async (offset: number, q = '') => {
    const page = await storage.table(things).list(listQuery({ limit: 3, offset: BigInt(offset), q }))
    const body = String(page.body)
    return {
      names: [...body.matchAll(/"Row (-?\d+)"/g)].map(([, id]) => BigInt(id as string)),
      total: Number(/"total":(\d+)/.exec(body)?.[1]),
    }
  }
  const { length } = ids
  for (const offset of [0, 1, 2_047, 2_048, 4_097, length >> 1, length - 2, length, length + 1]) {
    const expected = { names: ids.slice(offset, offset + 3), total: length }
    assert.equal(await list(offset), expected, `offset ${offset}`)
    if (offset > 2_048) assert.equal(await list(offset, 'row'), expected, `offset ${offset} of a search`)
  }
  await storage.close()
}

const test = suite('sparse ids')

for (const [name, ids] of cases) {
  test(`${name}: rows of other programs, before and after half of them are deleted and others moved`, async () => {
    const database = await sharedDatabase()
    const migrated = () => migrateStorage(registry, database.url, { ...storageOptions, waitMs: 5_000 })
    await migrated()
    await insert(database, ids)
    await checkPages(database, ids)
    if (server) await database.run(`select registry_compact('things')`)
    await checkPages(database, ids)
    const isKept = (id: bigint) => id % 4n !== 0n || id % 3n === 0n
    await database.run('delete from things where id % 4 = 0 and id % 3 <> 0')
    await database.run(`update things set id = 7000000001, name = 'Row 7000000001' where id = ${ids.find(isKept)}`)
    const moved = [7_000_000_001n, ...ids.filter(isKept).slice(1)]
    await checkPages(database, moved)
    assert.equal((await migrated()).miscounted, [])
  })
}

test.run()
