/** Checks the API after a crash: every row is as it was acknowledged, or as a write without a response would have left it. */
import type { Resource, RowValues } from '../engine/descriptor/registry.js'
import { fold } from '../engine/storage/caseFold.js'
import { searchedText } from '../support/oracle.js'
import { RawConnection } from '../support/rawHttp.js'
import { type KnownRow, type Ledger, rowContent } from './ledger.js'
import { allRows, creatable, read, rowPath } from './service.js'

/** A longer query might not fit into the request head. */
const maxSearchLength = 500

/** Checks that a search for a row's own text finds exactly the rows that contain it. */
const checkSearch = async (
  connection: RawConnection,
  resource: Resource,
  row: RowValues,
  rows: readonly RowValues[],
): Promise<string[]> => {
  const q = searchedText(resource, row).slice(0, maxSearchLength).trim()
  const expected = rows.filter((other) => fold(searchedText(resource, other)).includes(fold(q))).map(({ id }) => id)
  const { text } = await read(connection, `${rowPath(resource)}?limit=200&q=${encodeURIComponent(q)}`)
  const ids = (JSON.parse(text) as { data: RowValues[] }).data.map(({ id }) => id)
  return JSON.stringify(ids) === JSON.stringify(expected.slice(0, 200))
    ? []
    : [`the search of ${resource.path} for ${JSON.stringify(q)} found ${ids} instead of ${expected}`]
}

/** Whether a row may be stored like this: as it was acknowledged, or as the write without a response leaves it. */
const isPossible = ({ resource, text, unanswered }: KnownRow, stored: RowValues | undefined): boolean =>
  JSON.stringify(stored) === text ||
  (unanswered !== undefined && unanswered.content === (stored && rowContent(resource, stored)))

/** Compares the rows of a resource with those that clients know; what became of a write without a key and response is then known. */
const checkResource = (ledger: Ledger, resource: Resource, rows: readonly RowValues[]): string[] => {
  const failures: string[] = []
  const demoIds = new Set(resource.demo.map(({ id }) => id))
  const unclaimed = new Map(rows.filter(({ id }) => !demoIds.has(id ?? null)).map((row) => [row['id'], row]))
  const knownRows = ledger.rows.filter((row) => row.resource === resource)
  const isCreated = ({ id }: KnownRow) => id !== undefined
  // A created row without a response is found by its content, among the rows that no client knows.
  for (const row of [...knownRows.filter(isCreated), ...knownRows.filter((row) => !isCreated(row))]) {
    const { id, text, unanswered } = row
    const stored =
      id === undefined
        ? [...unclaimed.values()].find((candidate) => unanswered?.content === rowContent(resource, candidate))
        : unclaimed.get(id)
    if (!isPossible(row, stored)) {
      const pending = unanswered ? `, and ${unanswered.method} ${unanswered.body} had no response` : ''
      failures.push(`${resource.path} ${id} was ${text}${pending}, but is ${JSON.stringify(stored)}`)
    }
    if (stored) unclaimed.delete(stored['id'])
    if (unanswered && unanswered.key === undefined) ledger.settle(row, stored && JSON.stringify(stored))
  }
  for (const row of unclaimed.values()) failures.push(`stored twice, or never sent: ${JSON.stringify(row)}`)
  return failures
}

/**
 * Compares a service with the ledger; returns all failures. Once every write has a response, the rows that were written
 * since the last crash are also read by id and searched.
 */
export const checkRows = async (address: string, ledger: Ledger, isFinal: boolean): Promise<string[]> => {
  const connection = new RawConnection(address)
  const failures: string[] = []
  const written = isFinal ? [...new Set(ledger.sent.map(({ row }) => row))] : []
  for (const resource of creatable) {
    const rows = await allRows(connection, resource)
    failures.push(...checkResource(ledger, resource, rows))
    for (const { id, text } of written.filter((row) => row.resource === resource && row.id !== undefined)) {
      const { status, text: found } = await read(connection, rowPath(resource, id))
      if (text === undefined ? status !== 404 : found !== text)
        failures.push(`${resource.path} ${id} is ${found} instead of ${text}`)
      if (text !== undefined) failures.push(...(await checkSearch(connection, resource, JSON.parse(text), rows)))
    }
  }
  connection.close()
  return failures
}
