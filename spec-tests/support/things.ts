/** A registry whose first resource is `things`, and starts with it. */
import { text } from '../../engine/descriptor/index.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { listQuery, tableTag } from './listQuery.js'
import type { Fields } from './members.js'
import { resourceIn } from './registryFrom.js'

export const thingsWith = (
  fields: Fields = { name: text() },
  demo: RowValues[] = [{ id: 3, name: 'Third' }],
): Registry => [resourceIn('things', fields, { required: ['name'], demo })]

/** Starts and stops; returns what it has warned of, and a list of the first resource. */
export const startOnce = async (
  registry: Registry,
  url: string,
  { q = '', offset = 0n, warnings = [] as string[], demo = true } = {},
) => {
  const warn = (message: string) => warnings.push(message)
  const storage = await openStorage(registry, url, { ...storageOptions, demo, warn })
  try {
    const table = storage.table(registry[0] as Resource)
    const body = String((await table.list(listQuery({ q, offset }))).body)
    const { data, meta } = JSON.parse(body) as { data: RowValues[]; meta: { total: number } }
    return { warnings, body, ids: data.map(({ id }) => id), total: meta.total, tag: await tableTag(table) }
  } finally {
    await storage.close()
  }
}
