/** The rights that the writes of a registry need. */
import type { Registry } from '../../descriptor/registry.js'
import { literal, quoted } from '../schema.js'

export interface Right {
  readonly table: string
  readonly verb: 'insert' | 'update' | 'delete'
}

export const writeRights = (registry: Registry): Right[] =>
  registry.flatMap(({ table, create, update, delete: remove }): Right[] => [
    ...(create ? [{ table, verb: 'insert' as const }] : []),
    ...(update ? [{ table, verb: 'update' as const }] : []),
    ...(remove ? [{ table, verb: 'delete' as const }] : []),
  ])

/** The SQL that says whether this role has a right; null if there is no such table. */
export const hasRight = ({ table, verb }: Right): string => {
  const has = verb === 'delete' ? 'has_table_privilege' : 'has_any_column_privilege'
  return `${has}(to_regclass(${literal(quoted(table))}), '${verb}')`
}
