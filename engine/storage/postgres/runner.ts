/** Runs the statements of a table on PostgreSQL: reads on any server that has what the primary has, writes on the primary. */
import type { Resource } from '../../descriptor/registry.js'
import type { Cell, Runner } from '../dialect.js'
import type { PoolOptions } from '../options.js'
import { shared } from './attempts.js'
import { askForUpkeep } from './changeLog.js'
import type { Connections } from './connections.js'
import { prepared } from './prepared.js'
import type { Reads } from './replicas.js'
import { hasSequence } from './schema.js'
import { advanceSequence, createWriter } from './writes.js'

/** How often the length of a change log is asked for at most, in milliseconds. */
const checkMs = 1_000

/** The version of a table, and what has its change log compacted once that has become long. */
const versionReader = (connections: Connections, table: string, waitMs: number) => {
  const state = prepared(`select to_hex(state), is_long from registry_state('${table}')`)
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

/** The runner of a managed table. */
export const managedRunner = (
  connections: Connections,
  reads: Reads,
  { table }: Resource,
  { waitMs, statementMs }: PoolOptions,
): Runner => {
  const advance = prepared(askForUpkeep(table))
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
    ...writer,
  }
}
