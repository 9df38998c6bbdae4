/** The tables to which rules of access follow references: whether their rows can be locked, and whether Citus can read them with others. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import { StorageError } from '../failures.js'
import type { Execute } from '../migration/migrationDialect.js'
import { quoted, resourceAt } from '../schema.js'
import { hasRight } from './rights.js'

/** Finds the tables whose rows can be locked; throws if rows that a rule needs are on other servers than those that it is for. */
export const findLockable = async (
  execute: Execute,
  registry: Registry,
  isDistributed: boolean,
): Promise<ReadonlySet<Resource>> => {
  const lockable = new Set<Resource>()
  for (const { path, rulePaths = new Map() } of registry) {
    for (const [name, fields] of rulePaths) {
      for (const { references } of fields.slice(0, -1)) {
        const target = resourceAt(registry, references)
        const named = [quoted(target.table)]
        const [table] = await execute<{ isLockable: boolean | null }>(
          `select relkind in ('r', 'p') and ${hasRight({ table: target.table, verb: 'update' })} as "isLockable" from pg_class where oid = to_regclass($1)`,
          named,
        )
        if (table?.isLockable) lockable.add(target)
        const spread = 'select 1 from pg_dist_partition where logicalrelid = to_regclass($1) and partmethod <> $2'
        if (isDistributed && (await execute(spread, [...named, 'n'])).length > 0)
          throw new StorageError(
            `the rule "${name}" of ${path} follows a reference to "${target.table}", whose rows are distributed over several servers; make it a reference table`,
          )
      }
    }
  }
  return lockable
}
