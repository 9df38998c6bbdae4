/** A service on the descriptors that introspection writes for a database. */
import { describeTables } from '../../cli/introspect/describe.js'
import { descriptorText } from '../../cli/new/descriptorText.js'
import type { NewResource } from '../../cli/new/plan.js'
import * as declarations from '../../engine/descriptor/index.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { storageTables } from '../../engine/storage/open.js'
import { type SharedDatabase, sharedDatabase } from './database.js'
import { schemaOf } from './foreignTables.js'
import { registryFrom } from './registryFrom.js'
import { startService } from './service.js'

/** A registry from the texts of descriptor files. */
const registryOf = (files: readonly (readonly [path: string, text: string])[]): Registry => {
  const exported = files.map(([path, text]) => {
    const body = text.slice(text.indexOf('defineResource({')).trimEnd()
    return [path, new Function(...Object.keys(declarations), `return ${body}`)(...Object.values(declarations))]
  })
  return registryFrom(Object.fromEntries(exported))
}

/** Runs statements, and serves the tables as introspected; `more` is added to each descriptor that allows creates. */
export const serveIntrospected = async (
  statements: readonly string[],
  more: Pick<NewResource, 'update' | 'delete'> = {},
  given?: SharedDatabase,
) => {
  const database = given ?? (await sharedDatabase())
  for (const sql of statements) await database.run(sql)
  const before = await schemaOf(database)
  const described = describeTables(await storageTables(database.url, 5_000), [], 'Test')
  const files = described.flatMap(({ resource }) =>
    resource ? [[resource.path, descriptorText({ ...resource, ...(resource.create && more) })] as const] : [],
  )
  const registry = registryOf(files)
  const service = await startService({ registry, url: database.url, explorer: true })
  return { database, before, registry, service, notes: described.flatMap(({ notes }) => notes) }
}
