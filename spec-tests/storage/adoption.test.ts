/** Tables that another program has created, on both databases: served only when adopted, never altered, released without a trace. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Descriptor } from '../../engine/descriptor/define.js'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { newRow, type Registry, type Resource, resourceFrom } from '../../engine/descriptor/registry.js'
import { migrateStorage, openStorage, planStorage, releaseStorage, storageTables } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'

const options = { ...storageOptions, demo: false, waitMs: 5_000 }

const warehouseWith = (fields: Descriptor['fields'], rest: Partial<Descriptor> = {}): Resource =>
  resourceFrom(
    'warehouses',
    { name: 'Warehouse', area: 'Test', table: 'warehouses', required: [], create: true, fields, ...rest },
    [],
  )

const fields = { name: text(), size: integer() }
const registry: Registry = [warehouseWith(fields)]

/** A database of another program, with two rows. */
const otherDatabase = async (): Promise<SharedDatabase> => {
  const database = await sharedDatabase()
  const id = server ? 'id serial primary key' : 'id integer primary key'
  await database.run(`create table warehouses (${id}, name varchar(40), size integer, remark text)`)
  await database.run("insert into warehouses (name, remark) values ('North', 'a'), ('South', null)")
  return database
}

/** The table as its own program sees it: columns and rows. */
const tableOf = async (database: SharedDatabase) => {
  const columns = server
    ? "select column_name, data_type, is_nullable, column_default from information_schema.columns where table_name = 'warehouses' order by 1"
    : "select sql from sqlite_schema where name = 'warehouses'"
  return [await database.run(columns), await database.run('select id, name, size, remark from warehouses order by id')]
}

/** Everything that the service has added. */
const ownObjects = server
  ? "select relname as name from pg_class where relname ~ 'registry_' union all select proname from pg_proc where proname ~ 'registry_'"
  : "select name from sqlite_schema where name glob '*registry_*'"

const refusal = async (resources: Registry, database: SharedDatabase): Promise<string> => {
  try {
    await (await openStorage(resources, database.url, options)).close()
  } catch (error) {
    return (error as Error).message
  }
  return assert.unreachable('the start was not refused') as never
}

const test = suite('tables of other programs')

test('they are served only when adopted, and are the same after their release', async () => {
  const database = await otherDatabase()
  const before = await tableOf(database)
  assert.match(
    await refusal(registry, database),
    /table "warehouses": another program has created the table\. .*--adopt/,
  )
  assert.equal(await tableOf(database), before)

  await migrateStorage(registry, database.url, { ...options, approvals: ['adopt:warehouses'] })
  assert.equal((await planStorage(registry, database.url, 5_000)).steps, [])
  const storage = await openStorage(registry, database.url, options)
  const resource = registry[0] as Resource
  const created = await storage.table(resource).create(newRow(resource, { name: 'East' }), undefined)
  assert.ok('id' in created && created.id === 3)
  // The other program writes on.
  await database.run("insert into warehouses (name) values ('West')")
  const page = await storage.table(resource).list(listQuery({ limit: 10, offset: 0n, q: 'west' }))
  assert.match(String('tag' in page && page.body), '"total":1')
  await storage.close()

  await database.run('delete from warehouses where id > 2')
  await releaseStorage(registry, database.url, options)
  assert.equal(await tableOf(database), before)
  const left = server
    ? "select tgname as name from pg_trigger where tgrelid = 'warehouses'::regclass and not tgisinternal"
    : "select name from sqlite_schema where tbl_name = 'warehouses' and type in ('trigger', 'index')"
  assert.equal(await database.run(left), [])
  assert.equal(await database.run(ownObjects), [])
  database.close()
})

test('what other tables use stays when one is released', async () => {
  const database = await otherDatabase()
  const own = { ...warehouseWith(fields), path: 'depots', name: 'Depot', table: 'depots' }
  const both = [own, ...registry]
  await migrateStorage(both, database.url, { ...options, approvals: ['adopt:warehouses'] })
  await releaseStorage(both, database.url, options)
  const storage = await openStorage([own], database.url, options)
  assert.ok('id' in (await storage.table(own).create(newRow(own, { name: 'East' }))))
  await storage.close()
  database.close()
})

test('a column that the database computes is served if nobody creates rows', async () => {
  const database = await otherDatabase()
  const generated = 'area integer generated always as (size * 2) stored'
  await database.run(
    `create table areas (${server ? 'id serial primary key' : 'id integer primary key'}, size integer, ${generated})`,
  )
  await database.run('insert into areas (size) values (4)')
  const area = (create: boolean) => ({
    ...warehouseWith({ size: integer(), area: integer({ filter: true }) }),
    table: 'areas',
    create,
  })
  try {
    await migrateStorage([area(true)], database.url, { ...options, approvals: ['adopt:areas'] })
    assert.unreachable()
  } catch (error) {
    assert.match(
      (error as Error).message,
      /column "area": a create cannot set the column, because the database computes its values\. Remove the field, or set create to false/,
    )
  }
  const readOnly = area(false)
  await migrateStorage([readOnly], database.url, { ...options, approvals: ['adopt:areas'] })
  const storage = await openStorage([readOnly], database.url, options)
  const page = await storage.table(readOnly).list(listQuery({ limit: 10, offset: 0n }))
  assert.match(String('tag' in page && page.body), '{"id":1,"size":4,"area":8}')
  await storage.close()
  database.close()
})

test('everything is released that an earlier descriptor asked for, even if there is none any more', async () => {
  for (const later of [registry, []]) {
    const database = await otherDatabase()
    const before = await tableOf(database)
    const indexed = [warehouseWith({ name: text({ unique: true, filter: true }), size: integer({ filter: true }) })]
    await migrateStorage(indexed, database.url, { ...options, approvals: ['adopt:warehouses'] })
    const steps = await releaseStorage(later, database.url, options)
    assert.equal(
      steps.map(({ about }) => about),
      ['release the table warehouses', "drop the service's own tables"],
    )
    assert.equal(await tableOf(database), before)
    const left = server
      ? "select relname as name from pg_class where relname like 'registry_warehouses%'"
      : "select name from sqlite_schema where name glob 'registry_warehouses*'"
    assert.equal(await database.run(left), [])
    database.close()
  }
})

test('they are not renamed, and no approval converts their columns', async () => {
  const database = await otherDatabase()
  const before = await tableOf(database)
  const depot = { ...warehouseWith(fields), table: 'depots', renamedFromTable: 'warehouses' }
  assert.match(
    await refusal([depot], database),
    server ? /"warehouses", which is not renamed/ : /another program|has none of/,
  )
  await database.run("update warehouses set remark = '1'")
  try {
    const approvals = ['adopt:warehouses', 'retype:warehouses.remark']
    await migrateStorage([warehouseWith({ remark: integer() })], database.url, { ...options, approvals })
    assert.unreachable()
  } catch (error) {
    assert.match(
      (error as Error).message,
      /column "remark": the field is of kind integer, but the column is of type text/,
    )
  }
  await database.run("update warehouses set remark = case when id = 1 then 'a' end")
  assert.equal(await tableOf(database), before)
  database.close()
})

const refused: Readonly<Record<string, [resource: Resource, message: RegExp]>> = {
  'a field without a column': [
    warehouseWith({ ...fields, town: text() }),
    /column "town": the column does not exist, and a table of another program is not altered\. .*alter table "warehouses" add column "town" text/,
  ],
  'a field of another kind': [
    warehouseWith({ name: number() }),
    /column "name": the field is of kind number, but the column is of type .* 2 of 2 values do not convert: "North"/,
  ],
  'a renamed field': [warehouseWith({ label: text({ renamedFrom: 'name' }) }), /column "label": .*not altered/],
  'a required field that some rows lack': [
    warehouseWith({ remark: text() }, { required: ['remark'] }),
    /column "remark": the descriptor requires a value, but 1 row \(id 2\) has none/,
  ],
}
for (const [what, [resource, message]] of Object.entries(refused)) {
  test(`${what} is refused, and the table is not altered`, async () => {
    const database = await otherDatabase()
    const before = await tableOf(database)
    const approvals = ['adopt:warehouses']
    try {
      await migrateStorage([resource], database.url, { ...options, approvals })
      assert.unreachable()
    } catch (error) {
      assert.match((error as Error).message, message)
    }
    assert.equal(await tableOf(database), before)
    database.close()
  })
}

test('values that a field cannot have prevent an adoption, and are null when they are stored later', async () => {
  const database = await sharedDatabase()
  const id = server ? 'id serial primary key' : 'id integer primary key'
  const real = server ? 'double precision' : 'real'
  await database.run(`create table warehouses (${id}, name text, size integer, area ${real})`)
  const resource = warehouseWith({ name: text({ filter: true }), size: integer({ unique: true }), area: number() })
  const adopt = () => migrateStorage([resource], database.url, { ...options, approvals: ['adopt:warehouses'] })
  const infinities = server ? "('Infinity'), ('NaN'), ('-Infinity')" : '(9e999), (-9e999)'
  const insertInfinities = () => database.run(`insert into warehouses (area) values (1.5), ${infinities}`)
  // SQLite stores any value in any column.
  const insertOthers = async () => {
    if (!server) await database.run("insert into warehouses (name, size, area) values (x'00ff', 'many', 'much')")
  }
  await insertInfinities()
  await insertOthers()
  try {
    await adopt()
    assert.unreachable()
  } catch (error) {
    const { message } = error as Error
    assert.match(
      message,
      /column "area": 3 rows \(id 2, 3, [45]\) have a value that is not a finite number, and would be served as null\. Correct/,
    )
    if (!server) {
      assert.match(message, /column "name": 1 row \(id 4\) has a value that is not a string/)
      assert.match(message, /column "size": 1 row \(id 4\) has a value that is not an integer/)
    }
  }
  await database.run('delete from warehouses')
  await adopt()
  await insertInfinities()
  await insertOthers()
  const storage = await openStorage([resource], database.url, options)
  const page = await storage.table(resource).list(listQuery({ limit: 10, offset: 0n }))
  assert.ok('tag' in page)
  const { data } = JSON.parse(String(page.body)) as { data: Record<string, unknown>[] }
  const empty = { name: null, size: null, area: null }
  assert.equal(
    data.map(({ id: _, ...values }) => values),
    [{ ...empty, area: 1.5 }, empty, empty, empty],
  )
  await storage.close()
  database.close()
})

test('a type that no field can store is named', async () => {
  const database = await sharedDatabase()
  await database.run('create table warehouses (id integer primary key, name date, size integer)')
  try {
    await migrateStorage(registry, database.url, { ...options, approvals: ['adopt:warehouses'] })
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, 'column "name": the column is of type date, which no field can store.')
  }
  database.close()
})

test('a table without an integer key is refused', async () => {
  const database = await sharedDatabase()
  await database.run('create table warehouses (name text, size integer)')
  try {
    await migrateStorage(registry, database.url, { ...options, approvals: ['adopt:warehouses'] })
    assert.unreachable()
  } catch (error) {
    assert.match((error as Error).message, 'column "id": the table has no integer primary key of that name.')
  }
  database.close()
})

test('the catalogue shows every table with its types, references and unique values', async () => {
  const database = await otherDatabase()
  await database.run('create unique index by_name on warehouses (name, size)')
  const [table] = await storageTables(database.url, 5_000)
  assert.is(table?.origin, 'unknown')
  assert.equal(
    table?.columns.map(({ name, kind }) => [name, kind]),
    [
      ['id', 'integer'],
      ['name', 'text'],
      ['size', 'integer'],
      ['remark', 'text'],
    ],
  )
  assert.equal(table?.unique, [['name', 'size']])
  database.close()
})

test.run()
