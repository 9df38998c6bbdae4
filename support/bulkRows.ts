/** Fills tables with many rows: variations of the demo rows that keep unique values distinct. */
import { isWhole, kindOf } from '../engine/descriptor/kinds/index.js'
import {
  type Field,
  idField,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
} from '../engine/descriptor/registry.js'
import { sampleValue } from '../engine/descriptor/samples.js'
import { ruleNames } from '../engine/descriptor/valueRules.js'
import type { Batch, CopiedTable, Storage, StoredRow } from '../engine/storage/storage.js'
import { describeFailure } from './failures.js'
import { CommandError } from './options.js'

const batchSize = 5_000

const hasRules = (field: Field): boolean => ruleNames.some((name) => field[name] !== undefined)

/** Makes the function that returns the id of the nth row: null if the database assigns it. */
const idMaker = (resource: Resource): ((n: number) => Value) => {
  const id = idField(resource)
  const { managed } = id
  if (managed === true) return () => null
  return managed ? () => managed() : (n) => sampleValue(id, n) ?? null
}

/**
 * Makes the function that returns the nth row of a large table: the demo rows repeated, with distinct values in unique
 * fields and in one text field. Unique references are null.
 */
export const bulkRows = (resource: Resource): ((n: number) => RowValues) => {
  const { fields, demo } = resource
  const makeId = idMaker(resource)
  const distinct = fields.find(
    (field) => kindOf(field.kind).isText && !field.filter && !field.redacted && !hasRules(field),
  )
  const changed = fields.filter((field) => field.name !== 'id' && (field.unique || field === distinct))
  const largest = new Map(
    changed.map(({ name }) => [name, demo.reduce((most, row) => Math.max(most, Number(row[name]) || 0), 0)]),
  )
  return (n) => {
    const row: RowValues = { ...demo[n % demo.length], id: makeId(n) }
    for (const field of changed) {
      const { name, kind, references } = field
      if (references) row[name] = null
      else if (hasRules(field)) row[name] = sampleValue(field, n) ?? null
      else if (kindOf(kind).isText) row[name] = `${row[name] ?? name}-${n}`
      else row[name] = isWhole(field) ? (largest.get(name) ?? 0) + n : (sampleValue(field, n) ?? null)
    }
    return row
  }
}

/** The largest id, so that a second run continues with other values; found by bisection. */
const lastId = async (storage: Storage, resource: Resource): Promise<number> => {
  let [low, high] = [0, Number.MAX_SAFE_INTEGER]
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    if ((await storage.rows(resource, middle, 1)).length > 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Reads all rows of a table in batches. */
export const readBatches = async function* (storage: Storage, table: CopiedTable): AsyncGenerator<Batch> {
  let after: StoredRow[string] | undefined
  for (;;) {
    const rows = await storage.rows(table, after, batchSize)
    if (rows.length === 0) return
    yield { resource: table, rows }
    after = rows.at(-1)?.[table.cursor ?? 'id']
  }
}

/** The ids of rows that no row references in this field, as many as are needed. */
const unreferenced = async (
  storage: Storage,
  registry: Registry,
  resource: Resource,
  { name, references }: Field,
  needed: number,
): Promise<StoredRow[string][]> => {
  const taken = new Set<unknown>()
  for await (const { rows } of readBatches(storage, resource)) for (const row of rows) taken.add(row[name])
  const free: StoredRow[string][] = []
  for await (const { rows } of readBatches(storage, registry.find(({ path }) => path === references) as Resource)) {
    free.push(...rows.map(({ id = null }) => id).filter((id) => !taken.has(id)))
    if (free.length >= needed) return free
  }
  const reason = `each must reference a row of ${references} in ${name} that no other does`
  throw new CommandError(`Only ${free.length} rows can be added: ${reason}. Add rows to ${references} first.`)
}

/** Adds rows to a table, and reports how many there are so far. */
export const addBulkRows = async (
  storage: Storage,
  registry: Registry,
  resource: Resource,
  total: number,
  report: (done: number) => void,
): Promise<void> => {
  const bulkRow = bulkRows(resource)
  const isNumbered = isWhole(idField(resource))
  const stored = isNumbered ? await lastId(storage, resource) : ((await storage.counts()).get(resource) ?? 0)
  const first = Math.max(resource.demo.length, stored)
  const mandatory = resource.fields.filter(({ references, unique, required }) => references && unique && required)
  const references = new Map<string, StoredRow[string][]>()
  for (const field of mandatory) {
    references.set(field.name, await unreferenced(storage, registry, resource, field, total))
  }
  report(0)
  for (let done = 0; done < total; done += batchSize) {
    const count = Math.min(batchSize, total - done)
    const rowAt = (_: unknown, n: number): StoredRow => ({
      ...bulkRow(first + 1 + done + n),
      ...Object.fromEntries([...references].map(([name, ids]) => [name, ids[done + n] ?? null])),
    })
    await storage.fill([{ resource, rows: Array.from({ length: count }, rowAt) }]).catch((error: Error) => {
      throw new CommandError(`The rows could not be stored. ${describeFailure(error) ?? error.message}`)
    })
    report(done + count)
  }
}
