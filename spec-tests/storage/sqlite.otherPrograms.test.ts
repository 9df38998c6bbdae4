/** Writes of other programs with older versions of SQLite: Debian's sqlite3, and Python. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { number, text } from '../../engine/descriptor/index.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const things = resourceIn(
  'things',
  {
    name: text({ unique: true, filter: true, sort: true }),
    note: text(),
    weight: number({ filter: true, sort: true, range: true }),
  },
  { required: ['name'], update: true, delete: true },
)

const script = 'import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]); connection.executescript(sys.argv[2])'
const programs: Readonly<Record<string, (path: string, sql: string) => readonly string[]>> = {
  sqlite3: (path, sql) => ['-bail', path, sql],
  python3: (path, sql) => ['-c', script, path, sql],
}

const test = suite('other programs')

for (const [program, argumentsOf] of Object.entries(programs)) {
  const isInstalled = spawnSync(program, ['--version']).status === 0
  const check = isInstalled ? test : test.skip
  const path = join(temporaryFolder(program).path, 'shared.sqlite')
  const run = (sql: string): void => {
    const { status, stderr } = spawnSync(program, argumentsOf(path, sql), { encoding: 'utf8' })
    assert.is(status, 0, stderr)
  }

  check(
    `${program} inserts, updates and deletes rows, and the service finds them by search and reads them exactly`,
    async () => {
      const { get, create, change, remove } = await startService({ registry: [things], url: `sqlite:${path}` })
      const find = async (q: string) => (await get(`/v1/things?q=${encodeURIComponent(q)}`)).body
      const numbers = [7, 2.5, 0.1 + 0.2, 1 / 3, 1234567890.1234567, 5e-324, Number.MAX_VALUE, 1e21]
      await create('things', { name: 'first', note: 'Stored by the service', weight: 2 / 3 })
      // SQLite before 3.43 may read a decimal inexactly, so the service stores the numbers and the other program copies them.
      for (const [n, weight] of numbers.entries()) await create('things', { name: `number ${n}`, weight })
      run("insert into things (name, note, weight) select 'copy of ' || name, 'Stored elsewhere', weight from things")
      const { data, meta } = await find('stored elsewhere')
      assert.is(meta.total, numbers.length + 1)
      assert.equal(
        data.map(({ weight }: { weight: number }) => weight),
        [2 / 3, ...numbers],
      )
      for (const { id, weight } of data) assert.is((await get(`/v1/things/${id}`)).body.weight, weight)

      run("update things set note = 'Changed elsewhere', weight = weight / 3 where note = 'Stored elsewhere'")
      assert.is((await find('stored elsewhere')).meta.total, 0)
      const changed = (await find('changed elsewhere')).data
      assert.is(changed.length, numbers.length + 1)
      for (const { id, weight } of changed) {
        assert.is((await get(`/v1/things/${id}`)).body.weight, weight)
        assert.is((await change(`things/${id}`, { note: 'Changed here' })).status, 200)
      }
      assert.is((await find('changed here')).meta.total, numbers.length + 1)

      run("delete from things where name like 'copy of number%'")
      assert.is((await find('changed here')).meta.total, 1)
      assert.is((await remove(`things/${changed[0].id}`)).status, 204)
      assert.is((await get('/v1/things')).body.meta.total, numbers.length + 1)
      const database = new Database(path)
      assert.equal(database.pragma('integrity_check'), [{ integrity_check: 'ok' }])
      database.exec("insert into registry_things_search (registry_things_search) values ('integrity-check')")
      database.close()
    },
  )
}

test.run()
