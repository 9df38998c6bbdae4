/** Compares the columns of the tables with the fields of their resources while the service runs. */
import type { Registry, Resource } from '../../descriptor/registry.js'
import { quoted } from '../schema.js'
import { columnDifference } from '../tableFit.js'
import { kindsByType } from './catalogue.js'
import { knex, type Prepared, prepared } from './prepared.js'
import type { Row } from './run.js'

/** Makes the function that finds the tables which no longer fit their resources. */
export const fitQuery = (registry: Registry, ask: (query: Prepared) => Promise<Row[]>) => {
  const names = registry.map(({ table }) => `'${quoted(table)}'`).join()
  const columns = prepared(
    knex.raw(`select name, attname, format_type(atttypid, null) from unnest(array[${names}]::text[]) as name
      join pg_attribute on attrelid = to_regclass(name) and attnum > 0 and not attisdropped`),
  )
  return async (): Promise<Map<Resource, string>> => {
    const types = new Map(registry.map(({ table }) => [quoted(table), new Map<string, string>()]))
    for (const [table, column, type] of await ask(columns)) types.get(String(table))?.set(String(column), String(type))
    const changed = new Map<Resource, string>()
    for (const resource of registry) {
      const found = types.get(quoted(resource.table)) ?? new Map()
      const difference = columnDifference(resource, found, (type, kind) => kindsByType[type] === kind)
      if (difference !== undefined) changed.set(resource, difference)
    }
    return changed
  }
}
