/** Runs the statements of a table on PostgreSQL: reads on any server that has what the primary has, writes on the primary. */
import type { Resource } from '../../descriptor/registry.js'
import type { Cell, Runner } from '../dialect.js'
import { type CatalogueTable, findColumn } from '../migration/catalogue.js'
import type { PoolOptions } from '../options.js'
import type { Refused, WritePlan } from '../write.js'
import { shared } from './attempts.js'
import { askForUpkeep } from './changeLog.js'
import type { Connections } from './connections.js'
import { knex, prepared } from './prepared.js'
import type { Reads } from './replicas.js'
import { hasSequence } from './schema.js'
import { advanceSequence, createWriter } from './writes.js'

/** How often the length of a change log is asked for at most, in milliseconds. */
const checkMs = 1_000

/** The version of a table, and what has its change log compacted once that has become long. */
const versionReader = (connections: Connections, table: string, waitMs: number) => {
  const state = prepared(knex.raw(`select to_hex(state), is_long from registry_state('${table}')`))
  let checkAt = 0
  let isCompacting = false
  const compact = async (): Promise<void> => {
    if (isCompacting) return
    isCompacting = true
    // If it fails, a later read tries again.
    await connections.maintain(askForUpkeep(table)).catch(() => {})
    isCompacting = false
  }
  const version = shared(waitMs, async () => {
    checkAt = performance.now() + checkMs
    const [row] = await connections.check(state)
    if (row?.[1] === 't') void compact()
    return String(row?.[0])
  })
  return {
    version,
    /** To be called with each use of the table. */
    onUse(): void {
      if (performance.now() >= checkAt) version().catch(() => {})
    },
  }
}

/** A number that its column would round, such as 1.239 of numeric(10,2). */
const findRounded = (
  { fields }: Resource,
  catalogue: CatalogueTable | undefined,
  { change: { values } }: WritePlan,
): Refused | undefined => {
  for (const { name, column, kind } of fields) {
    const value = values[name]
    const { type = '' } = (catalogue && findColumn(catalogue, column)) ?? {}
    const [, places] = (kind === 'number' && /^numeric\(\d+,(\d+)\)/.exec(type)) || []
    if (typeof value === 'number' && places !== undefined && Number(value.toFixed(Number(places))) !== value)
      return { constraint: type, column, reason: `${name} is ${type}, which would round ${value}` }
  }
  return undefined
}

/** The runner of a managed table. */
export const managedRunner = (
  connections: Connections,
  reads: Reads,
  { table }: Resource,
  { waitMs, statementMs }: PoolOptions,
): Runner => {
  const advance = prepared(knex.raw(askForUpkeep(table)))
  const writer = createWriter(connections, { table } as Resource, statementMs, advance)
  const { version, onUse } = versionReader(connections, table, waitMs)
  return {
    async read(statement, values, { isShort, ...purpose } = {}) {
      onUse()
      return (await reads.read(statement, values, {
        table,
        ...purpose,
        ...(isShort && { limitMs: waitMs }),
      })) as Cell[][]
    },
    write(plan) {
      onUse()
      return writer.write(plan)
    },
    import(plan) {
      onUse()
      return writer.import(plan)
    },
    batch(plan) {
      onUse()
      return writer.batch(plan)
    },
    version,
  }
}

/** The runner of a table that the service serves as it is. */
export const unmanagedRunner = (
  connections: Connections,
  reads: Reads,
  resource: Resource,
  catalogue: CatalogueTable | undefined,
  { statementMs }: PoolOptions,
): Runner => {
  const { table } = resource
  const writer = createWriter(
    connections,
    resource,
    statementMs,
    hasSequence(resource) ? advanceSequence(table) : undefined,
  )
  return {
    read: async (statement, values, purpose) =>
      (await reads.read(statement, values, { table, ...purpose })) as Cell[][],
    async write(plan) {
      const refused = findRounded(resource, catalogue, plan)
      return refused ? { refused } : writer.write(plan)
    },
    import: writer.import,
    batch: writer.batch,
  }
}
