/** The writes of custom operations, and those of resources with hooks: each a transaction, in which the hooks run. */
import type { Rights } from '../descriptor/access.js'
import { type HookOperation, hookOperations } from '../descriptor/hook.js'
import type { NamedHook } from '../descriptor/hookFiles.js'
import { memberTexts } from '../descriptor/jsonText.js'
import { isWhole } from '../descriptor/kinds/index.js'
import { maxTimeoutMs } from '../descriptor/operation.js'
import { idField, type Resource, type RowId } from '../descriptor/registry.js'
import type { Transaction } from '../storage/storage.js'
import type { IdempotencyKey, Import, ImportOutcome } from '../storage/writeData.js'
import type { Permit } from './callers.js'
import { failureOf } from './failedCode.js'
import { type Call, codeTools, rowOf, type Work } from './handles.js'
import type { Service } from './serviceParts.js'
import { makeWrite, makeWrites, replayed, rowNow, type Stored } from './write.js'
import type { SentWrite } from './writePlan.js'

/** How long a transaction may take by default, in milliseconds. */
export const defaultTimeoutMs = 5_000

/** How many hooks may run within one another. */
const maxDepth = 8

/** So many rows of an import are read at once. */
const rowsAtOnce = 1_000

export type Writing = Pick<Service, 'storage' | 'registry' | 'hooks'>

const operationOf: Readonly<Record<SentWrite['method'], HookOperation>> = {
  POST: 'create',
  PATCH: 'update',
  DELETE: 'delete',
}

const hooksOf = ({ hooks = [] }: Pick<Service, 'hooks'>, { table }: Resource): readonly NamedHook[] =>
  hooks.filter(({ resource }) => resource.table === table)

export const hasHooks = (
  service: Pick<Service, 'hooks'>,
  resource: Resource,
  operations: readonly HookOperation[] = hookOperations,
): boolean => hooksOf(service, resource).some(({ on }) => operations.some((operation) => on.includes(operation)))

/** A row that has changed, in the name of somebody. */
interface Change {
  readonly resource: Resource
  readonly id: RowId
  readonly previous: Buffer | undefined
  /** As it was after the change, if it is there. */
  readonly row: Buffer | undefined
}

/** Where code runs: how many hooks it runs within, and the row whose change it belongs to, which it may change without them. */
interface Inside {
  readonly depth: number
  readonly change?: Pick<Change, 'resource' | 'id'> & { readonly onUpdate: (before: Buffer, after: Buffer) => void }
}

/** Ends a transaction whose changes are not to stay. */
class Undone extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('the changes are undone')
    this.result = result
  }
}

/** What code does in a transaction, one step after another; `end` waits for those that have begun. */
export const transactionWork = (
  service: Writing,
  transaction: Transaction,
  permit: Permit,
  inside: Inside = { depth: 0 },
): Work & { end(): Promise<void> } => {
  let last: Promise<unknown> = Promise.resolve()
  let hasEnded = false
  const failures = new Map<Call<unknown>, unknown>()
  const step: Work['step'] = (run) => {
    if (hasEnded) return Promise.reject(new Error('the code that this belongs to has ended; wait for what it does'))
    const result = last.then(run)
    last = result.catch(() => {})
    return result
  }
  return {
    storage: transaction,
    step,
    write: (write, rights) => step(() => writeWithin(service, transaction, write, rights, permit, inside)),
    onFailure: (call, error) => failures.set(call, error),
    async end() {
      hasEnded = true
      await last
      for (const [call, error] of failures)
        if (!call.isAwaited) throw new Error('a call failed that the code did not wait for', { cause: error })
    },
  }
}

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b)

/** A row with what an update has changed; it may differ from the row that was updated in what other hooks have seen already. */
const withUpdate = (row: Buffer, before: Buffer, after: Buffer): Buffer => {
  if (row.equals(before)) return after
  const [rowMembers, old, updated] = [row, before, after].map((body) => memberTexts(String(body)))
  const members = [...(rowMembers as Map<string, string>)].map(([name, text]) => {
    const isUpdated = updated?.get(name) !== old?.get(name)
    return `${JSON.stringify(name)}:${isUpdated ? updated?.get(name) : text}`
  })
  return Buffer.from(`{${members.join()}}`)
}

/** Runs the hooks of a change. Each gets the row as the change left it, with what earlier hooks have updated in it. Other changes of the row meanwhile run the hooks again. */
const runHooks = async (
  service: Writing,
  transaction: Transaction,
  { resource, id, previous, row: changed }: Change,
  permit: Permit,
  depth: number,
): Promise<void> => {
  const operation = changed ? (previous ? 'update' : 'create') : 'delete'
  let row = changed
  for (const { name, on, handle } of hooksOf(service, resource)) {
    if (!on.includes(operation)) continue
    const file = `hooks/${name}.ts`
    if (depth === maxDepth) throw new Error(`${file} would run within ${maxDepth} other hooks`)
    const onUpdate = (before: Buffer, after: Buffer) => {
      row &&= withUpdate(row, before, after)
    }
    const work = transactionWork(service, transaction, permit, { depth: depth + 1, change: { resource, id, onUpdate } })
    const context = {
      ...codeTools(service.registry, work, permit),
      operation,
      row: row ? rowOf(row) : null,
      previous: previous ? rowOf(previous) : null,
    }
    try {
      await handle(context as never)
      await work.end()
    } catch (error) {
      await work.end().catch(() => {})
      throw failureOf(file, error)
    }
  }
}

const runAllHooks = async (
  service: Writing,
  transaction: Transaction,
  changes: readonly Change[],
  permit: Permit,
): Promise<void> => {
  for (const change of changes)
    if (!isSame(change.previous, change.row)) await runHooks(service, transaction, change, permit, 0)
}

/** Makes a write within a transaction, and runs the hooks of its row. */
const writeWithin = async (
  service: Writing,
  transaction: Transaction,
  write: SentWrite,
  rights: Rights,
  permit: Permit,
  { depth, change }: Inside,
): Promise<Stored> => {
  const { resource, method } = write
  const place = { storage: transaction, registry: service.registry }
  // A hook that changes its own row is not run for that.
  const isOwn = method === 'PATCH' && change?.resource === resource && change.id === write.id
  const isHooked = isOwn || hasHooks(service, resource, [operationOf[method]])
  if (!isHooked) return makeWrite(place, write, { rights })
  const table = transaction.table(resource)
  // What the hooks have changed is undone with the write.
  return transaction.undoable(async () => {
    const previous = write.id === undefined ? undefined : (await table.get(write.id))?.body
    const stored = await makeWrite(place, write, { rights })
    const id = write.id ?? (stored.id as RowId)
    const row = method === 'DELETE' ? undefined : (await table.get(id))?.body
    if (isSame(previous, row)) return stored
    if (isOwn && previous && row) {
      change.onUpdate(previous, row)
      return stored
    }
    await runHooks(service, transaction, { resource, id, previous, row }, permit, depth)
    return method === 'DELETE' ? stored : { ...stored, body: await rowNow(transaction, rights, resource, stored.body) }
  })
}

interface StoreOptions {
  readonly permit: Permit
  /** The rights of the write, if they are not those of the caller. */
  readonly rights?: Rights
  readonly idempotencyKey?: IdempotencyKey | undefined
}

interface OnceOptions {
  readonly key: IdempotencyKey | undefined
  readonly permit: Permit
  readonly timeoutMs?: number | undefined
}

/** Runs work in a transaction, once for a key: its response is stored with it. */
export const transactOnce = <T extends Stored>(
  { storage }: Writing,
  resource: Resource | undefined,
  { key, permit, timeoutMs = defaultTimeoutMs }: OnceOptions,
  work: (transaction: Transaction) => Promise<T>,
): Promise<Stored> =>
  storage.transaction(
    async (transaction) => {
      const earlier = key && resource && (await transaction.table(resource).earlierWrite(key.key))
      if (earlier && key) return replayed(earlier, key)
      const stored = await work(transaction)
      if (key) await transaction.storeKey(key, stored.body)
      return stored
    },
    { by: permit.caller.name, timeoutMs },
  )

/** Makes one write, with the hooks of its resource; `row` is the row that it changes, as its caller sees it. */
export const storeWrite = (
  service: Writing,
  write: SentWrite,
  { permit, rights = permit.rights, idempotencyKey }: StoreOptions,
  row?: Buffer,
): Promise<Stored> => {
  const { resource, method } = write
  if (!hasHooks(service, resource, [operationOf[method]]))
    return makeWrite(service, write, { rights, idempotencyKey, by: permit.caller.name }, row)
  return transactOnce(service, resource, { key: idempotencyKey, permit }, (transaction) =>
    writeWithin(service, transaction, write, rights, permit, { depth: 0 }),
  )
}

/** The results of a batch, with the rows as their caller sees them now. */
export const resultsNow = async (
  storage: Pick<Transaction, 'table' | 'batch'>,
  rights: Rights,
  resources: readonly (Resource | undefined)[],
  body: Buffer,
): Promise<Buffer> => {
  const { results } = JSON.parse(String(body)) as { results: { status: number; body?: object }[] }
  const texts: string[] = []
  for (const [n, { status, body: row }] of results.entries()) {
    const resource = resources[n]
    const rowForCaller = row && resource && (await rowNow(storage, rights, resource, Buffer.from(JSON.stringify(row))))
    texts.push(rowForCaller ? `{"status":${status},"body":${rowForCaller}}` : JSON.stringify({ status }))
  }
  return Buffer.from(`{"results":[${texts.join(',')}]}`)
}

/** What a write asks for, if it can be read. */
const readable = (write: () => SentWrite): SentWrite | undefined => {
  try {
    return write()
  } catch {
    // It fails when it is planned.
    return undefined
  }
}

/** Makes the writes of a batch, all or none, with the hooks of their resources; these run after all of them, once for each row that changed. */
export const storeWrites = (
  service: Writing,
  sentWrites: readonly (() => SentWrite)[],
  { permit, idempotencyKey }: StoreOptions,
): Promise<Stored> => {
  const { rights } = permit
  const readableWrites = service.hooks?.length ? sentWrites.map(readable) : []
  const first = readableWrites.find((write) => write && hasHooks(service, write.resource, [operationOf[write.method]]))
  if (!first) return makeWrites(service, sentWrites, { rights, idempotencyKey, by: permit.caller.name })
  const managed = service.registry.find(({ existing }) => !existing) ?? first.resource
  return transactOnce(service, managed, { key: idempotencyKey, permit }, async (transaction) => {
    const rowAt = async (resource: Resource, id: RowId) => (await transaction.table(resource).get(id))?.body
    const before = new Map<string, Omit<Change, 'row'>>()
    const add = async ({ resource }: SentWrite, id: RowId, isNew: boolean): Promise<void> => {
      const key = `${resource.path}/${id}`
      if (before.has(key) || !hasHooks(service, resource)) return
      before.set(key, { resource, id, previous: isNew ? undefined : await rowAt(resource, id) })
    }
    for (const write of readableWrites) if (write?.id !== undefined) await add(write, write.id, false)
    const place = { storage: transaction, registry: service.registry }
    const stored = await makeWrites(place, sentWrites, { rights })
    const { results } = JSON.parse(String(stored.body)) as { results: { body?: { id: RowId | number } }[] }
    for (const [n, { body }] of results.entries()) {
      const write = readableWrites[n]
      if (write && write.id === undefined && body) await add(write, String(body.id), true)
    }
    // All rows before the first hook, which may change those of later ones.
    const changes: Change[] = []
    for (const change of before.values()) changes.push({ ...change, row: await rowAt(change.resource, change.id) })
    await runAllHooks(service, transaction, changes, permit)
    const resources = readableWrites.map((write) => write?.resource)
    return { ...stored, body: await resultsNow(transaction, rights, resources, stored.body) }
  })
}

/** Some rows of an import, as they are. */
const rowsNow = async (
  transaction: Transaction,
  resource: Resource,
  ids: readonly RowId[],
): Promise<Map<RowId, Buffer>> => {
  const rows = new Map<RowId, Buffer>()
  const isNumbered = isWhole(idField(resource))
  for (let from = 0; from < ids.length; from += rowsAtOnce) {
    const values = ids.slice(from, from + rowsAtOnce).map((id) => (isNumbered ? Number(id) : id))
    for (const row of await transaction.table(resource).rowsWith('id', values))
      rows.set(String((JSON.parse(String(row)) as { id: RowId | number }).id), row)
  }
  return rows
}

/** Stores the rows of an import within a transaction, and runs the hooks of those that change. */
export const importWithin = async (
  service: Writing,
  transaction: Transaction,
  resource: Resource,
  sentImport: Import,
  permit: Permit,
): Promise<ImportOutcome> => {
  const { rows } = sentImport
  const updated = rows.flatMap((row) => (row.kind === 'update' ? [row.id] : []))
  const before = await rowsNow(transaction, resource, updated)
  const outcome = await transaction.table(resource, [], permit.rights).import(sentImport)
  if (!('body' in outcome)) return outcome
  const { ids } = JSON.parse(String(outcome.body)) as { ids: (RowId | number)[] }
  const changed = ids.map(String).filter((_, n) => rows[n]?.kind !== 'keep')
  const after = await rowsNow(transaction, resource, changed)
  const changes = changed.map((id): Change => ({ resource, id, previous: before.get(id), row: after.get(id) }))
  await runAllHooks(service, transaction, changes, permit)
  return outcome
}

/** Runs an import with hooks in a transaction; one that `isUndone` changes nothing. */
export const transactImport = async <T>(
  { storage }: Writing,
  permit: Permit,
  isUndone: boolean,
  work: (transaction: Transaction) => Promise<T>,
  timeoutMs = maxTimeoutMs,
): Promise<T> => {
  try {
    return await storage.transaction(
      async (transaction) => {
        const result = await work(transaction)
        if (isUndone) throw new Undone(result)
        return result
      },
      { by: permit.caller.name, timeoutMs },
    )
  } catch (error) {
    if (error instanceof Undone) return error.result as T
    throw error
  }
}
