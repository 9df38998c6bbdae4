/** A registry of teams and their members, whose descriptors change from version to version. */
import * as assert from 'uvu/assert'
import type { Descriptor } from '../../engine/descriptor/define.js'
import { text } from '../../engine/descriptor/index.js'
import { withLogging } from '../../engine/descriptor/logging.js'
import { type Registry, type Resource, type RowValues, resourceFrom } from '../../engine/descriptor/registry.js'
import { migrateStorage, openStorage, planStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { sharedDatabase } from './database.js'
import { listQuery } from './listQuery.js'
import { resourceIn } from './registryFrom.js'

export type Fields = Descriptor['fields']

type Options = 'required' | 'table' | 'renamedFromTable' | 'id' | 'changes' | 'history'
export type Version = { readonly fields: Fields } & Partial<Pick<Descriptor, Options>>

export const team = resourceIn('teams', { name: text() })

export const memberIn = ({ fields, required = [], table = 'members', ...rest }: Version): Resource =>
  resourceFrom('members', { name: 'Member', area: 'Test', table, required, create: true, fields, ...rest }, [])

export const registryOf = (version: Version): Registry => [team, memberIn(version)]

/** A registry of members alone, who may have a log. */
export const loggedMembers = (version: Version): Registry => withLogging([memberIn(version)])

const everything = listQuery({ limit: 200 })

/** The rows as clients see them, without their ids. */
export const servedRows = async (storage: Storage, resource: Resource): Promise<RowValues[]> => {
  const page = await storage.table(resource).list(everything)
  assert.ok('tag' in page)
  const { data, meta } = JSON.parse(String(page.body)) as { data: RowValues[]; meta: { total: number } }
  assert.is(meta.total, data.length)
  return data.map(({ id, ...values }) => values)
}

export const open = (registry: Registry, url: string) => openStorage(registry, url, { ...storageOptions, demo: false })

/** The rows of the last resource, as a start serves them. */
export const rowsServed = async (registry: Registry, url: string): Promise<RowValues[]> => {
  const storage = await open(registry, url)
  const rows = await servedRows(storage, registry.at(-1) as Resource)
  await storage.close()
  return rows
}

/** Migrates, with approvals. */
export const apply = (registry: Registry, url: string, ...approvals: string[]) =>
  migrateStorage(registry, url, { ...storageOptions, waitMs: 5_000, approvals })

/** What a start is refused with, or a migration that is given approvals. */
export const refusal = async (registry: Registry, url: string, approvals?: readonly string[]): Promise<string> => {
  try {
    if (approvals) await apply(registry, url, ...approvals)
    else await (await open(registry, url)).close()
  } catch (error) {
    return (error as Error).message
  }
  return 'not refused'
}

/** Starts with a registry, stores rows, and closes. */
export const prepare = async (registry: Registry, url: string, rows: Record<string, readonly RowValues[]>) => {
  const storage = await open(registry, url)
  await storage.fill(registry.map((resource) => ({ resource, rows: rows[resource.path] ?? [] })))
  await storage.close()
}

/** A database with rows of some descriptors, and what happens to it when these change: versions of the members, or whole registries. */
export const changingDatabase = async (before: Version | Registry, rows: Parameters<typeof prepare>[2] = {}) => {
  const database = await sharedDatabase()
  const { url } = database
  const registryFor = (given: Version | Registry) => ('fields' in given ? registryOf(given) : given)
  await prepare(registryFor(before), url, rows)
  return {
    ...database,
    refusal: (after: Version | Registry, approvals?: readonly string[]) => refusal(registryFor(after), url, approvals),
    apply: (after: Version | Registry, ...approvals: string[]) => apply(registryFor(after), url, ...approvals),
    served: (after: Version | Registry) => rowsServed(registryFor(after), url),
    async plan(after: Version | Registry, withValues = false) {
      const { steps, differences } = await planStorage(registryFor(after), url, 5_000, withValues ? { withValues } : {})
      return { steps, differences }
    },
  }
}
