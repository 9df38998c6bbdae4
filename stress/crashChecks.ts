/** What must hold after a crash, seen from outside: nothing acknowledged is lost, nothing is half there, no key made two rows. */
import { type Resource, type RowValues, searchedFields } from '../engine/descriptor/registry.js'
import { fold } from '../engine/storage/caseFold.js'
import { RawConnection } from '../support/rawHttp.js'
import { idsOfKeys } from './fileChecks.js'
import { type Create, contentOf } from './ledger.js'
import { allRows, creatable, pathOf, read } from './service.js'

const textOf = (resource: Resource, row: RowValues): string =>
  searchedFields(resource)
    .flatMap(({ name }) => row[name] ?? [])
    .join(' ')

/** The longest text that is searched for: a query has to fit into the head of a request. */
const longestSearch = 500

/** Whether a search for a row's own text finds the rows that have it, and no other. */
const searchFault = async (wire: RawConnection, resource: Resource, row: RowValues, rows: readonly RowValues[]) => {
  const q = textOf(resource, row).slice(0, longestSearch).trim()
  const expected = rows.filter((other) => fold(textOf(resource, other)).includes(fold(q))).map(({ id }) => id)
  const { text } = await read(wire, `${pathOf(resource)}?limit=200&q=${encodeURIComponent(q)}`)
  const found = (JSON.parse(text) as { data: RowValues[] }).data.map(({ id }) => id)
  return JSON.stringify(found) === JSON.stringify(expected.slice(0, 200))
    ? undefined
    : `the search of ${resource.path} for ${JSON.stringify(q)} finds ${found} and not ${expected}`
}

/** The faults of one resource; what nobody was told of is settled by what is there, so that it stays that way from now on. */
const faultsOfResource = async (
  wire: RawConnection,
  resource: Resource,
  old: readonly Create[],
  fresh: readonly Create[],
) => {
  const faults: string[] = []
  const rows = await allRows(wire, resource)
  const byId = new Map(rows.map((row) => [row['id'], row]))
  const unclaimed = new Map<string, RowValues[]>()
  const demo = new Set(resource.demo.map(({ id }) => id))
  for (const row of rows.filter(({ id }) => !demo.has(id ?? null))) {
    const content = contentOf(resource, row)
    unclaimed.set(content, [...(unclaimed.get(content) ?? []), row])
  }
  const claim = (content: string, id: unknown): void => {
    const left = (unclaimed.get(content) ?? []).filter((row) => row['id'] !== id)
    if (left.length > 0) unclaimed.set(content, left)
    else unclaimed.delete(content)
  }
  for (const { acknowledged, content } of [...old, ...fresh]) {
    if (acknowledged === undefined) continue
    const { id } = JSON.parse(acknowledged)
    const row = byId.get(id)
    if (JSON.stringify(row) !== acknowledged) faults.push(`lost: ${acknowledged} is ${JSON.stringify(row)}`)
    claim(content, id)
  }
  for (const create of fresh) {
    const [row] = create.acknowledged === undefined ? (unclaimed.get(create.content) ?? []) : []
    if (!row) continue
    create.acknowledged = JSON.stringify(row)
    claim(create.content, row['id'])
  }
  for (const left of unclaimed.values()) {
    faults.push(`nobody sent this, or it was stored twice: ${JSON.stringify(left[0])}`)
  }
  for (const { acknowledged } of fresh) {
    if (acknowledged === undefined) continue
    const row = JSON.parse(acknowledged) as RowValues
    const one = await read(wire, pathOf(resource, row['id']))
    if (one.text !== acknowledged) faults.push(`${pathOf(resource, row['id'])} is ${one.text}, not ${acknowledged}`)
    const fault = await searchFault(wire, resource, row, rows)
    if (fault) faults.push(fault)
  }
  return faults
}

/** Everything that is wrong with what a restarted service shows, given what was sent before and just now. */
export const faultsAfterCrash = async (
  address: string,
  path: string,
  old: readonly Create[],
  fresh: readonly Create[],
): Promise<string[]> => {
  const wire = new RawConnection(address)
  const faults: string[] = []
  for (const resource of creatable) {
    const of = (creates: readonly Create[]) => creates.filter((create) => create.resource === resource)
    faults.push(...(await faultsOfResource(wire, resource, of(old), of(fresh))))
  }
  wire.close()
  const remembered = idsOfKeys(path)
  for (const { key, acknowledged } of [...old, ...fresh]) {
    if (key === undefined || acknowledged === undefined) continue
    const { id } = JSON.parse(acknowledged)
    if (remembered.get(key) !== id)
      faults.push(`the key ${key} made row ${id}, but is remembered for ${remembered.get(key)}`)
  }
  return faults
}
