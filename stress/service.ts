/** What is tried: the registry as it is served, a database file with rows in every table, and requests that have the token. */
import { setTimeout } from 'node:timers/promises'
import { basePath } from '../engine/contract/service.js'
import { loadRegistry } from '../engine/descriptor/load.js'
import type { Resource, RowValues } from '../engine/descriptor/registry.js'
import { openStorage } from '../engine/storage/open.js'
import { folders } from '../product.js'
import { type Header, RawConnection, type RawResponse, requestBytes } from '../support/rawHttp.js'
import { bulkRow, withSampleRows } from '../support/samples.js'
import { storageOptions } from '../support/storageOptions.js'

export const token = 'the-write-token-of-the-stress-tests'

/** The registry, with made-up rows where a resource has no demo rows. */
export const registry = withSampleRows(await loadRegistry(folders))

/** The resources that clients may create. */
export const creatable = registry.filter((resource) => resource.create)

/** Between the ids of the rows that are added: so that tables have gaps, and more than one block of ids. */
const stride = 37

/** Whether rows can be added by repeating the demo rows: not where each must refer to a row of its own. */
const isRepeatable = ({ fields }: Resource): boolean =>
  !fields.some((field) => field.references && field.unique && field.required)

/** Does something again for as long as the storage's own thread, which tidies up after large writes, keeps the file locked. */
const patiently = async (work: () => Promise<void>): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || tries > 100) throw error
      await setTimeout(100)
    }
  }
}

/** Makes a database with the demo rows, and so many more in every table. */
export const makeFile = async (path: string, more: number): Promise<void> => {
  const storage = await openStorage(registry, `sqlite:${path}`, { ...storageOptions, cacheBytes: 0 })
  for (const resource of more > 0 ? registry.filter(isRepeatable) : []) {
    const last = Math.max(...resource.demo.map((row) => Number(row['id'])))
    const rowAt = (_: unknown, n: number): RowValues => ({
      ...bulkRow(resource, resource.demo.length + n),
      id: last + (n + 1) * stride,
    })
    const rows = Array.from({ length: more }, rowAt)
    await patiently(() => storage.load(resource, rows))
  }
  await storage.close()
}

/** How the service is started on a file. */
export const environmentOf = (path: string): Record<string, string> => ({
  DATABASE_URL: `sqlite:${path}`,
  API_TOKEN: token,
})

/** Resolves when the service answers; rejects where it does not within a minute. */
export const answers = async (address: string): Promise<void> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const wire = new RawConnection(address)
    try {
      await read(wire, `${basePath}/v1/health`)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await setTimeout(10)
    } finally {
      wire.close()
    }
  }
}

/** The path of a resource, or of one of its rows. */
export const pathOf = ({ path }: Resource, id?: unknown): string =>
  `${basePath}/v1/${path}${id === undefined ? '' : `/${id}`}`

/** The headers of every create. */
export const createHeaders: readonly Header[] = [
  ['authorization', `Bearer ${token}`],
  ['content-type', 'application/json'],
]

/** Reads a path. */
export const read = (wire: RawConnection, path: string): Promise<RawResponse> => wire.send(requestBytes('GET', path))

/** Sends a create, with a key where there is one. */
export const sendCreate = (
  wire: RawConnection,
  resource: Resource,
  body: string,
  key?: string,
): Promise<RawResponse> => {
  const headers = key === undefined ? createHeaders : [...createHeaders, ['idempotency-key', key] as const]
  return wire.send(requestBytes('POST', pathOf(resource), headers, Buffer.from(body)), 'POST')
}

/** Every row of a resource, as its lists show them. */
export const allRows = async (wire: RawConnection, resource: Resource): Promise<RowValues[]> => {
  const rows: RowValues[] = []
  for (;;) {
    const { status, text } = await read(wire, `${pathOf(resource)}?limit=200&offset=${rows.length}`)
    if (status !== 200) throw new Error(`${pathOf(resource)} answered ${status}`)
    const { data, meta } = JSON.parse(text) as { data: RowValues[]; meta: { total: number } }
    rows.push(...data)
    if (data.length === 0 || rows.length >= meta.total) return rows
  }
}
