/** The databases use the indexes: no statement scans or sorts a table where an index finds the rows in order. */
import * as assert from 'uvu/assert'
import { defaultListQuery, type Order, type Position } from '../../engine/descriptor/listQuery.js'
import { filterFields, orderedFields, type Resource } from '../../engine/descriptor/registry.js'
import { type Driver, planRead, readStatements } from '../../engine/storage/list.js'
import { openStorage } from '../../engine/storage/open.js'
import * as postgres from '../../engine/storage/postgres/dialect.js'
import { createStatements } from '../../engine/storage/postgres/writes.js'
import type { Statement } from '../../engine/storage/sql.js'
import { connect } from '../../engine/storage/sqlite/connection.js'
import * as sqlite from '../../engine/storage/sqlite/dialect.js'
import { reader } from '../../engine/storage/sqlite/reader.js'
import { jsonIndex } from '../../engine/storage/sqlite/schema.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, server, sessionOn } from '../support/database.js'
import { derivedSuite } from '../support/derivedSuite.js'
import { listQuery } from '../support/listQuery.js'
import { onClose } from '../support/service.js'
import { eachProject } from '../support/tested.js'

const index = { isAvailable: true, isAscii: false }
const dialect = server ? postgres.postgresDialect(index) : sqlite.sqliteDialect
const source = (resource: Resource) =>
  server ? postgres.managedSource(index, resource) : sqlite.managedSource(resource)

/** What a statement does in a way that it should not, and its whole plan. */
type Explain = (statement: Statement) => Promise<{ wrong: string[]; plan: string }>

const explainOnSqlite = (url: string): Explain => {
  const database = connect(url.replace('sqlite:', ''), { timeout: 1_000 })
  reader(database)
  interface Step {
    readonly id: number
    readonly parent: number
    readonly detail: string
  }
  return async ({ sql, parameters }) => {
    const steps = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as Step[]
    const within = (step: Step): string[] => {
      const parent = steps.find(({ id }) => id === step.parent)
      return parent ? [...within(parent), parent.detail] : []
    }
    const isSorted = (step: Step) =>
      step.detail.startsWith('USE TEMP B-TREE FOR') &&
      !steps.some(
        ({ parent, detail }) =>
          parent === step.parent && /^SCAN (?:registry_few|_arm|registry_sized|registry_rows)\b/.test(detail),
      )
    // Along an order and by id, a page goes through its table; what finds few matches does not.
    const isScan = (step: Step) =>
      within(step).includes('MATERIALIZE registry_few') &&
      /^SCAN _t\b/.test(step.detail) &&
      !steps.some(({ parent, detail }) => parent === step.parent && detail === 'CO-ROUTINE _t')
    const wrong = steps.filter((step) => isSorted(step) || isScan(step))
    return { wrong: wrong.map(({ detail }) => detail), plan: steps.map((step) => step.detail).join('\n') }
  }
}

const explainOnPostgres = async (url: string): Promise<Explain> => {
  const client = await sessionOn(url)
  onClose(() => client.end())
  // The test tables are small enough for sequential scans: with those disabled, one shows that no index applies.
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off')
  // Without fixed statistics, plans depend on when autovacuum last ran.
  await client.query('vacuum analyze')
  return async ({ name, sql, parameters }) => {
    await client.query(`prepare "${name}" as ${sql}`)
    const nulls = parameters.length > 0 ? `(${parameters.map(() => 'null').join(', ')})` : ''
    const { rows } = await client.query({ text: `explain execute "${name}"${nulls}`, rowMode: 'array' })
    await client.query(`deallocate "${name}"`)
    const lines = rows.map(([line]) => String(line))
    return { wrong: lines.filter((line) => /Seq Scan|Disabled: true/.test(line)), plan: lines.join('\n') }
  }
}

await eachProject(async ({ registry, resources }) => {
  const url = await freshUrl()
  await (await openStorage(registry, url, storageOptions)).close()
  const sourceAt = (path: string) => source(registry.find((resource) => resource.path === path) as Resource)
  const explain = server ? await explainOnPostgres(url) : explainOnSqlite(url)

  for (const resource of resources) {
    const test = derivedSuite('plans of', resource)
    const statements = readStatements(dialect, source(resource))
    const someValue = (name: string) =>
      resource.fields.find((field) => field.name === name)?.kind === 'integer' ? 1n : 'x'
    const planned = (q: string, filters: Readonly<Record<string, string | bigint>>, order: Order) =>
      planRead({ ...listQuery({ q, filters }), order }, () => true)
    const page = (
      q: string,
      filters: Readonly<Record<string, string | bigint>>,
      { order = defaultListQuery.order, after, driver }: { order?: Order; after?: Position; driver?: Driver } = {},
    ) => statements.page(planned(q, filters, order), driver, after, Boolean(server))

    const positions = (field: string): (Position | undefined)[] => [
      undefined,
      { id: '1', value: someValue(field) },
      { id: '1', value: null },
    ]
    const orders = orderedFields(resource).flatMap(({ name: field }) =>
      [false, true].map((descending) => ({ field, descending })),
    )
    const create: Readonly<Record<string, Statement>> = server
      ? createStatements(postgres.postgresDialect(index), registry, source(resource), sourceAt)
      : {}
    const cases: [string, Statement][] = [
      ['a row', statements.row],
      ...Object.entries(create).map(([name, statement]): [string, Statement] => [`create, ${name}`, statement]),
      ['a page of all rows', page('', {})],
      ['a page after a row', page('', {}, { after: { id: '1', value: null } })],
      ['a search', page('engineer', {})],
      ...orders.flatMap((order) =>
        positions(order.field).map((after): [string, Statement] => [
          `sort=${order.descending ? '-' : ''}${order.field} after ${after ? after.value : 'nothing'}`,
          page('', {}, { order, ...(after && { after }) }),
        ]),
      ),
      ...filterFields(resource).flatMap(({ name }): [string, Statement][] => [
        [`filter ${name}`, page('', { [name]: someValue(name) })],
        [`filter ${name} with a search`, page('engineer', { [name]: someValue(name) }, { driver: 0 })],
        [`a search with filter ${name}`, page('engineer', { [name]: someValue(name) }, { driver: 'search' })],
      ]),
      ...resource.fields
        .filter(({ range }) => range)
        .flatMap(({ name }) =>
          ([['gte'], ['lt'], ['gt', 'lte']] as const).map((operators): [string, Statement] => {
            const where = operators.map((operator) => ({ field: name, operator, value: someValue(name) }))
            return [
              `${operators.join(' and ')} ${name}`,
              statements.page(
                { ...planned('', {}, defaultListQuery.order), where, strategy: 'filter' },
                undefined,
                undefined,
                true,
              ),
            ]
          }),
        ),
    ]
    for (const [name, statement] of cases) {
      test(name, async () => {
        const { wrong, plan } = await explain(statement)
        assert.equal(wrong, [], `${statement.sql}\n${plan}`)
      })
    }

    if (!server) {
      test('rows are read from the index with their JSON', async () => {
        // Rows whose numbers have many digits are read from the table, so the index does not cover it.
        const hasNumbers = resource.fields.some(({ kind, redacted }) => kind === 'number' && !redacted)
        for (const statement of [statements.row, page('', {})])
          assert.match(
            (await explain(statement)).plan,
            `USING ${hasNumbers ? '' : 'COVERING '}INDEX ${jsonIndex(resource)}`,
          )
      })
    }
    test.run()
  }
})
