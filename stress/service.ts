/** The service under test: its registry, databases with rows in every table, and requests with the write token. */
import { join } from 'node:path'
import { basePath } from '../engine/contract/service.js'
import { loadRegistry } from '../engine/descriptor/load.js'
import type { Resource, RowValues } from '../engine/descriptor/registry.js'
import { openStorage } from '../engine/storage/open.js'
import { bulkRows } from '../support/bulkRows.js'
import { type Header, type RawConnection, type RawResponse, requestBytes } from '../support/rawHttp.js'
import { root } from '../support/root.js'
import { withSampleRows } from '../support/samples.js'
import { storageOptions } from '../support/storageOptions.js'
import { temporaryProject } from '../support/temporaryProject.js'

const token = 'stress-test-write-token'

/** Made-up resources with every kind, every rule and all three writes, which the deployed ones may lack. */
export const madeUp = join(root, 'stress')

/** The deployed and the made-up resources, as a first start loads them. */
export const firstRegistry = [...(await loadRegistry(root)), ...(await loadRegistry(madeUp))]

/** The registry, with sample rows for resources without demo rows. */
export const registry = withSampleRows(firstRegistry)

/** A project that serves the registry. */
export const project = temporaryProject(root, madeUp)

/** The resources that clients may create. */
export const creatable = registry.filter((resource) => resource.create)

/** The distance between the ids of added rows, so that tables have gaps and several blocks of ids. */
const idStep = 37

/** Whether the demo rows can be repeated: not if each row must reference a different row. */
const isRepeatable = ({ fields }: Resource): boolean =>
  !fields.some((field) => field.references && field.unique && field.required)

/** Fills a new database with the demo rows and this many more rows in every table. */
export const fillDatabase = async (url: string, extraRows: number): Promise<void> => {
  const storage = await openStorage(registry, url, { ...storageOptions, cacheBytes: 0 })
  for (const resource of extraRows > 0 ? registry.filter(isRepeatable) : []) {
    const last = Math.max(...resource.demo.map((row) => Number(row['id'])))
    const bulkRow = bulkRows(resource)
    const rowAt = (_: unknown, n: number): RowValues => ({
      ...bulkRow(resource.demo.length + n),
      id: last + (n + 1) * idStep,
    })
    const rows = Array.from({ length: extraRows }, rowAt)
    await storage.fill([{ resource, rows }])
  }
  await storage.close()
}

export const serviceEnvironment = (url: string): Record<string, string> => ({ DATABASE_URL: url, API_TOKEN: token })

/** The URL path of a resource or of one of its rows. */
export const rowPath = ({ path }: Resource, id?: unknown): string =>
  `${basePath}/v1/${path}${id === undefined ? '' : `/${id}`}`

export const writeHeaders: readonly Header[] = [
  ['authorization', `Bearer ${token}`],
  ['content-type', 'application/json'],
]

/** The status of each write that succeeds. */
export const successes = { POST: 201, PATCH: 200, DELETE: 204 }

export const read = (connection: RawConnection, path: string): Promise<RawResponse> =>
  connection.send(requestBytes('GET', path))

/** Reads every row of a resource, page by page. */
export const allRows = async (connection: RawConnection, resource: Resource): Promise<RowValues[]> => {
  const rows: RowValues[] = []
  for (;;) {
    const { status, text } = await read(connection, `${rowPath(resource)}?limit=200&offset=${rows.length}`)
    if (status !== 200) throw new Error(`${rowPath(resource)} responded with ${status}`)
    const { data, meta } = JSON.parse(text) as { data: RowValues[]; meta: { total: number } }
    rows.push(...data)
    if (data.length > 0 && rows.length < meta.total) continue
    if (rows.length !== meta.total) throw new Error(`${rowPath(resource)} has ${rows.length} rows, not ${meta.total}`)
    return rows
  }
}
