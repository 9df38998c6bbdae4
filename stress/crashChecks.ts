/** Checks the API after a crash: no acknowledged row is lost or changed, no row is stored twice, keys return their row. */
import { type Resource, type RowValues, searchedFields } from '../engine/descriptor/registry.js'
import { fold } from '../engine/storage/caseFold.js'
import { RawConnection } from '../support/rawHttp.js'
import { idsByKey } from './fileChecks.js'
import { type Create, contentOf } from './ledger.js'
import { allRows, creatable, pathOf, read } from './service.js'

const textOf = (resource: Resource, row: RowValues): string =>
  searchedFields(resource)
    .flatMap(({ name }) => row[name] ?? [])
    .join(' ')

/** A longer query might not fit into the request head. */
const maxSearchLength = 500

/** Checks that a search for a row's own text finds exactly the rows that contain it. */
const checkSearch = async (
  connection: RawConnection,
  resource: Resource,
  row: RowValues,
  rows: readonly RowValues[],
): Promise<string[]> => {
  const q = textOf(resource, row).slice(0, maxSearchLength).trim()
  const expected = rows.filter((other) => fold(textOf(resource, other)).includes(fold(q))).map(({ id }) => id)
  const { text } = await read(connection, `${pathOf(resource)}?limit=200&q=${encodeURIComponent(q)}`)
  const found = (JSON.parse(text) as { data: RowValues[] }).data.map(({ id }) => id)
  return JSON.stringify(found) === JSON.stringify(expected.slice(0, 200))
    ? []
    : [`the search of ${resource.path} for ${JSON.stringify(q)} found ${found} instead of ${expected}`]
}

/**
 * Checks one resource. A create without a response may or may not be stored; if its row is there, it counts as
 * acknowledged from now on.
 */
const checkResource = async (
  connection: RawConnection,
  resource: Resource,
  earlier: readonly Create[],
  sent: readonly Create[],
): Promise<string[]> => {
  const failures: string[] = []
  const rows = await allRows(connection, resource)
  const byId = new Map(rows.map((row) => [row['id'], row]))
  const unclaimed = new Map<string, RowValues[]>()
  const demoIds = new Set(resource.demo.map(({ id }) => id))
  for (const row of rows.filter(({ id }) => !demoIds.has(id ?? null))) {
    const content = contentOf(resource, row)
    unclaimed.set(content, [...(unclaimed.get(content) ?? []), row])
  }
  const claim = (content: string, id: unknown): void => {
    const left = (unclaimed.get(content) ?? []).filter((row) => row['id'] !== id)
    if (left.length > 0) unclaimed.set(content, left)
    else unclaimed.delete(content)
  }
  for (const { acknowledged, content } of [...earlier, ...sent]) {
    if (acknowledged === undefined) continue
    const { id } = JSON.parse(acknowledged)
    const row = byId.get(id)
    if (JSON.stringify(row) !== acknowledged) failures.push(`lost: ${acknowledged} is now ${JSON.stringify(row)}`)
    claim(content, id)
  }
  for (const create of sent) {
    const [row] = create.acknowledged === undefined ? (unclaimed.get(create.content) ?? []) : []
    if (!row) continue
    create.acknowledged = JSON.stringify(row)
    claim(create.content, row['id'])
  }
  for (const [row] of unclaimed.values()) {
    failures.push(`stored twice, or never sent: ${JSON.stringify(row)}`)
  }
  for (const { acknowledged } of sent) {
    if (acknowledged === undefined) continue
    const row = JSON.parse(acknowledged) as RowValues
    const path = pathOf(resource, row['id'])
    const { text } = await read(connection, path)
    if (text !== acknowledged) failures.push(`${path} is ${text} instead of ${acknowledged}`)
    failures.push(...(await checkSearch(connection, resource, row, rows)))
  }
  return failures
}

/** Compares a restarted service with the creates of earlier rounds and of the last one; returns all failures. */
export const checkRows = async (
  address: string,
  path: string,
  earlier: readonly Create[],
  sent: readonly Create[],
): Promise<string[]> => {
  const connection = new RawConnection(address)
  const failures: string[] = []
  for (const resource of creatable) {
    const ofResource = (creates: readonly Create[]) => creates.filter((create) => create.resource === resource)
    failures.push(...(await checkResource(connection, resource, ofResource(earlier), ofResource(sent))))
  }
  connection.close()
  const storedKeys = idsByKey(path)
  for (const { key, acknowledged } of [...earlier, ...sent]) {
    if (key === undefined || acknowledged === undefined) continue
    const { id } = JSON.parse(acknowledged)
    if (storedKeys.get(key) !== id)
      failures.push(`the key ${key} created row ${id}, but is stored for ${storedKeys.get(key)}`)
  }
  return failures
}
