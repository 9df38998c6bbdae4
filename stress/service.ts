/** The service under test: its registry, database files with rows in every table, and requests with the write token. */
import { setTimeout } from 'node:timers/promises'
import { basePath } from '../engine/contract/service.js'
import { loadRegistry } from '../engine/descriptor/load.js'
import type { Resource, RowValues } from '../engine/descriptor/registry.js'
import { openStorage } from '../engine/storage/open.js'
import { folders } from '../product.js'
import { bulkRows } from '../support/bulkRows.js'
import { type Header, RawConnection, type RawResponse, requestBytes } from '../support/rawHttp.js'
import { withSampleRows } from '../support/samples.js'
import { storageOptions } from '../support/storageOptions.js'

export const token = 'stress-test-write-token'

/** The registry, with sample rows for resources without demo rows. */
export const registry = withSampleRows(await loadRegistry(folders))

/** The resources that clients may create. */
export const creatable = registry.filter((resource) => resource.create)

/** The distance between the ids of added rows, so that tables have gaps and several blocks of ids. */
const idStep = 37

/** Whether the demo rows can be repeated: not if each row must reference a different row. */
const isRepeatable = ({ fields }: Resource): boolean =>
  !fields.some((field) => field.references && field.unique && field.required)

/** Creates a database with the demo rows and this many more rows in every table. */
export const makeFile = async (path: string, extraRows: number): Promise<void> => {
  const storage = await openStorage(registry, `sqlite:${path}`, { ...storageOptions, cacheBytes: 0 })
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

export const environmentOf = (path: string): Record<string, string> => ({
  DATABASE_URL: `sqlite:${path}`,
  API_TOKEN: token,
})

/** Resolves when the service responds; rejects after a minute. */
export const waitUntilReady = async (address: string): Promise<void> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const connection = new RawConnection(address)
    try {
      await read(connection, `${basePath}/v1/health`)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await setTimeout(10)
    } finally {
      connection.close()
    }
  }
}

/** The URL path of a resource or of one of its rows. */
export const pathOf = ({ path }: Resource, id?: unknown): string =>
  `${basePath}/v1/${path}${id === undefined ? '' : `/${id}`}`

export const createHeaders: readonly Header[] = [
  ['authorization', `Bearer ${token}`],
  ['content-type', 'application/json'],
]

export const read = (connection: RawConnection, path: string): Promise<RawResponse> =>
  connection.send(requestBytes('GET', path))

export const sendCreate = (
  connection: RawConnection,
  resource: Resource,
  body: string,
  key?: string,
): Promise<RawResponse> => {
  const headers = key === undefined ? createHeaders : [...createHeaders, ['idempotency-key', key] as const]
  return connection.send(requestBytes('POST', pathOf(resource), headers, Buffer.from(body)), 'POST')
}

/** Reads every row of a resource, page by page. */
export const allRows = async (connection: RawConnection, resource: Resource): Promise<RowValues[]> => {
  const rows: RowValues[] = []
  for (;;) {
    const { status, text } = await read(connection, `${pathOf(resource)}?limit=200&offset=${rows.length}`)
    if (status !== 200) throw new Error(`${pathOf(resource)} responded with ${status}`)
    const { data, meta } = JSON.parse(text) as { data: RowValues[]; meta: { total: number } }
    rows.push(...data)
    if (data.length === 0 || rows.length >= meta.total) return rows
  }
}
