/** Create bodies and rows that fit the database as it is. If its rows use every value of a unique field, one of them is deleted. */
import {
  idField,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  referencesTo,
  type Value,
} from '../../engine/descriptor/registry.js'
import { newField } from '../../engine/descriptor/rowRules.js'
import {
  findBody,
  keepsRules,
  NoSample,
  type RowSource,
  repeatsKey,
  type SampleRequest,
  uniqueKeys,
} from '../../engine/descriptor/sampleRows.js'
import { sampleValue } from '../../engine/descriptor/samples.js'
import { findViolation } from '../../engine/descriptor/valueRules.js'
import { currentTest, ifFound } from './derivedSuite.js'
import type { TestService } from './service.js'

/** The first number of a body: far from those of the demo rows. */
const first = 100_000

/** How many rows are looked at to find one whose values can be used again. */
const maxRemoved = 40

interface StoredAt {
  readonly resource: Resource
  readonly id: Value
}

export interface FreshRow {
  readonly id: Value
  /** Of the API: `rooms/7`. */
  readonly path: string
  readonly row: RowValues
  readonly tag: string
}

const keyOf = ({ resource, id }: StoredAt): string => JSON.stringify([resource.path, id])

const ifNotFull = <T>(search: Promise<T>): Promise<T | undefined> =>
  search.catch((error) => {
    if (error instanceof NoSample && error.isFull) return undefined
    throw error
  })

export const freshBodies = (service: TestService, registry: Registry) => {
  let n = first

  const read = async (resources: readonly Resource[]): Promise<RowSource> => {
    const lists = await Promise.all(resources.map(async (one) => [one.path, await service.rows(one)] as const))
    const rows = new Map(lists)
    return (path) => rows.get(path) ?? []
  }

  /** The rows that a body of a resource depends on. */
  const readRelated = (resource: Resource): Promise<RowSource> => {
    const paths = resource.fields.map(({ references }) => references)
    const isRelated = (other: Resource) =>
      paths.includes(other.path) || (other === resource && uniqueKeys(resource).length > 0)
    return read(registry.filter(isRelated))
  }

  /** A row, and before it those that reference it, directly or through others. */
  const withReferrers = (row: StoredAt, rows: RowSource, found: StoredAt[] = []): StoredAt[] => {
    if (found.some((one) => keyOf(one) === keyOf(row))) return found
    found.unshift(row)
    for (const { resource, field } of referencesTo(registry, row.resource.path))
      for (const other of rows(resource.path))
        if (other[field.name] === row.id) withReferrers({ resource, id: other['id'] ?? null }, rows, found)
    return found
  }

  /** Deletes a row of a resource, the newest possible, so that a body fits. */
  const makeRoom = async (resource: Resource, wanted: Pick<SampleRequest, 'fixed' | 'needed'>): Promise<void> => {
    const rows = await read(registry)
    const { held } = currentTest
    for (const row of rows(resource.path).toReversed().slice(0, maxRemoved)) {
      const removed = withReferrers({ resource, id: row['id'] ?? null }, rows)
      const keys = new Set(removed.map(keyOf))
      if (removed.some((one) => held.has(keyOf(one)))) continue
      const left: RowSource = (path) =>
        rows(path).filter((other) => !keys.has(JSON.stringify([path, other['id'] ?? null])))
      try {
        findBody({ rows: left, resource, n, ...wanted })
      } catch (error) {
        if (error instanceof NoSample) continue
        throw error
      }
      for (const one of removed) await service.erase(one.resource, one.id)
      return
    }
  }

  /** Resources for which rows are being added: references may lead back to them. */
  const extended = new Set<Resource>()

  /** Stores rows that unique references can name. */
  const addTargets = async (resource: Resource): Promise<void> => {
    if (extended.has(resource)) return
    extended.add(resource)
    for (const { references } of resource.fields.filter(({ unique }) => unique)) {
      const target = registry.find(({ path }) => path === references)
      if (target) await ifFound(freshRow(target))
    }
    extended.delete(resource)
  }

  /** A new body, with a value in every field that a client may set, except where only null fits. */
  const freshBody = async (
    resource: Resource,
    fixed: RowValues = {},
    needed: readonly string[] = [],
  ): Promise<RowValues> => {
    n++
    const wanted = { fixed, needed }
    const find = async () => findBody({ rows: await readRelated(resource), resource, n, ...wanted })
    let body = await ifNotFull(find())
    if (!body) {
      await addTargets(resource)
      body = await ifNotFull(find())
    }
    if (!body) {
      await makeRoom(resource, wanted)
      body = await find()
    }
    currentTest.sample = body
    return body
  }

  /** Stores a new row like another program, and reads it. */
  const freshRow = async (resource: Resource, values: RowValues = {}): Promise<FreshRow> => {
    const { kind } = idField(resource)
    const newId = kind === 'integer' ? 9_000_000_000 + n : sampleValue(idField(resource), 900_000 + n)
    const nulls = resource.fields.filter(({ references, required }) => references && !required)
    // A row of a table in which each references another can only reference itself.
    const own = resource.fields.filter(({ references, required }) => references === resource.path && required)
    const given = [...nulls.map(({ name }) => [name, null]), ...own.map(({ name }) => [name, newId])]
    const body = await freshBody(resource, { ...(kind === 'text' && { id: newId }), ...Object.fromEntries(given) })
    const id = newId ?? null
    const row: RowValues = { ...newRow(resource, body), ...values }
    for (const field of resource.fields.filter(({ required, name }) => required && (row[name] ?? null) === null))
      row[field.name] = sampleValue(field, n) ?? null
    if (repeatsKey(resource, { ...row, id }, (await readRelated(resource))(resource.path)))
      throw new NoSample(`no other row of ${resource.path} can have ${JSON.stringify(values)}: they are unique`)
    await service.fill([{ resource, rows: [{ ...row, id }] }])
    hold(resource, id)
    const path = `${resource.path}/${encodeURIComponent(String(id))}`
    const { body: stored, headers } = await service.get(`/v1/${path}`)
    return { id, path, row: stored, tag: String(headers['etag']) }
  }

  /** Keeps a row until the end of the test. */
  const hold = (resource: Resource, id: Value): void => {
    currentTest.held.add(keyOf({ resource, id }))
  }

  /** Lets the rows so far be deleted to make room. */
  const release = (): void => currentTest.held.clear()

  /** Whether the service should store a body, or these changes of a row, beside the rows there are. */
  const accepts = async (resource: Resource, values: RowValues, before?: RowValues): Promise<boolean> => {
    const sent = resource.fields.filter(({ name }) => (values[name] ?? null) !== null)
    const fields = before ? sent : sent.map(newField)
    if (fields.some((field) => findViolation(field, values[field.name]) !== undefined)) return false
    const row = before ? { ...before, ...values } : newRow(resource, values)
    const others = (await readRelated(resource))(resource.path).filter(({ id }) => id !== before?.['id'])
    return keepsRules(resource, row) && !repeatsKey(resource, row, others)
  }

  return { freshBody, freshRow, hold, release, accepts }
}
