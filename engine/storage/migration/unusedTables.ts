/** The tables of removed resources, which a maintainer may rename or drop. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import { quoted } from '../schema.js'
import { type CatalogueTable, columnOf } from './catalogue.js'
import { dropDerived, withoutDescriptor } from './derivedSteps.js'
import { type Approvals, applyCommand, type Difference } from './difference.js'
import type { MigrationDialect, Step } from './migrationDialect.js'
import { rowCount } from './rowChecks.js'

/** The tables that the engine counts and that no resource uses any more. */
export const unusedTables = async (database: MigrationDialect, registry: Registry): Promise<CatalogueTable[]> => {
  const names = (await database.countedTables()).filter((name) => !registry.some(({ table }) => table === name))
  const tables: CatalogueTable[] = []
  for (const name of names) {
    const table = await database.catalogue(name)
    if (table) tables.push(table)
  }
  return tables
}

/** Whether a table has most of the columns of a resource. */
export const isSimilar = ({ fields }: Resource, table: CatalogueTable): boolean =>
  fields.filter(({ name }) => columnOf(table, name)).length > fields.length / 2

/** The approvals that drop unused columns which reference a table: it can only be dropped after them. */
const referencingApprovals = async (
  database: MigrationDialect,
  registry: Registry,
  target: string,
): Promise<string[]> => {
  const approvals: string[] = []
  for (const { table, fields } of registry) {
    const keys = (await database.catalogue(table))?.foreignKeys.filter((key) => key.target === target) ?? []
    const unused = keys.filter(({ column }) => !fields.some(({ name }) => name === column))
    approvals.push(...unused.map(({ column }) => `drop:${table}.${column}`))
  }
  return approvals
}

/** Plans the tables that no resource uses: each stays as it is until a maintainer drops it. */
export const planUnused = async (
  database: MigrationDialect,
  registry: Registry,
  approvals: Approvals,
  unused: readonly CatalogueTable[],
): Promise<{ readonly steps: readonly Step[]; readonly differences: readonly Difference[] }> => {
  const steps: Step[] = []
  const differences: Difference[] = []
  const isFormer = ({ name }: CatalogueTable) => registry.some(({ renamedFromTable }) => renamedFromTable === name)
  for (const one of unused.filter((table) => table.isOwn && !isFormer(table))) {
    const { name: table } = one
    const approval = [...(await referencingApprovals(database, registry, table)), `drop:${table}`].join(',')
    if (approval.split(',').every((part) => approvals.has(part))) {
      const sql = [...(await dropDerived(database, withoutDescriptor(table))), `drop table ${quoted(table)}`]
      steps.push({ table, about: `drop the table ${table}`, sql })
    } else {
      const rows = await rowCount({ database, table })
      const message = `no resource uses the table, so its ${rows} rows are not served.`
      const advice = `To drop it with its ${rows} rows: ${applyCommand(approval)}`
      differences.push({ table, message, advice, approval, isBlocking: false })
    }
  }
  return { steps, differences }
}
