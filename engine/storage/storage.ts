/** The storage interface that the rest of the engine uses, the same for every database. */
import type { Rights } from '../descriptor/access.js'
import type { KindSpec } from '../descriptor/kinds/index.js'
import type { ListQuery, Position, Selection } from '../descriptor/listQuery.js'
import {
  managedResources,
  type Registry,
  type Resource,
  type RowId,
  type RowValues,
  type Value,
} from '../descriptor/registry.js'
import type { SummaryQuery } from '../descriptor/summary.js'
import type { WebhookStore } from './webhookData.js'
import type {
  BatchOutcome,
  Conflict,
  IdempotencyKey,
  Import,
  ImportedRow,
  ImportOutcome,
  Outcome,
  Referenced,
  Write,
  WriteBatch,
} from './writeData.js'

/** A JSON response body as the database wrote it, with the tag of the table's version it was read from. */
export interface CachedBody {
  readonly tag: string
  readonly body: Buffer
  /** The position of the last row of a page, if there are more. */
  readonly next?: Position | undefined
}

/** A body of many megabytes, read in parts of whole rows while it is sent; it has no tag because its rows are read one after another. */
export interface StreamedBody {
  readonly body: AsyncIterable<Uint8Array>
  readonly next?: Position | undefined
}

/**
 * The client of a read, such as an HTTP response. Once it has closed, a read that waits is dropped, and one that runs is cancelled.
 * Callers take turns: those that are known by their names, others by their addresses, which behind a proxy is that of the proxy.
 */
export interface Caller {
  readonly closed: boolean
  readonly callerName?: string | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined } | null
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

export type RowFormat = 'json' | 'csv'

export interface Table {
  /** The page, as JSON with its meta. */
  list(query: ListQuery, caller?: Caller): Promise<CachedBody | StreamedBody>
  /**
   * All matching rows in their order, each a line. Rows are read in parts while they are taken, so each is in it once and as it
   * was when its part was read.
   */
  stream(selection: Selection, caller?: Caller, format?: RowFormat): AsyncIterable<Uint8Array>
  /** The groups of matching rows with the most rows, as JSON with its meta. */
  summary(query: SummaryQuery, caller?: Caller): Promise<CachedBody>
  /** Some fields of the rows with these ids, long texts truncated. */
  excerpts(ids: readonly RowId[], fields: readonly string[]): Promise<readonly RowValues[]>
  /** The row with this id, where there is one; its tag is its own. */
  get(id: RowId, caller?: Caller): Promise<CachedBody | undefined>
  /** What a write with this idempotency key has stored in the last 24 hours. */
  earlierWrite(key: string): Promise<EarlierWrite | undefined>
  /** The conflicts that storing some values would meet, in a new row or in the row with the id; `sent` as in a write. */
  conflicts(values: RowValues, id?: RowId, sent?: readonly string[]): Promise<readonly Conflict[]>
  /** Whether the caller may change or delete the row with an id. */
  allows(kind: Write['kind'], id: RowId): Promise<boolean>
  /** What references the row with an id, and whether that prevents a delete. */
  referencing(id: RowId): Promise<Omit<Referenced, 'changes'>>
  /** Makes the change durably, together with its idempotency key, or says why not. */
  write(write: Write): Promise<Outcome>
  /** Stores many rows durably, all or none. */
  import(rows: Import): Promise<ImportOutcome>
  /** The rows that have one of these values in a unique field, as JSON. */
  rowsWith(field: string, values: readonly Value[]): Promise<readonly Buffer[]>
}

/** The request that an idempotency key was sent with, and its response. */
export interface EarlierWrite {
  readonly digest: string
  readonly body: Buffer
}

/** A table whose rows are copied: that of a resource, or that of the idempotency keys. */
export interface CopiedTable {
  /** What it has, for messages. */
  readonly path: string
  readonly table: string
  readonly fields: readonly ({ readonly name: string } & (KindSpec | { readonly kind: 'body' }))[]
  /** The column by which its rows are ordered and read in batches; `id` by default. */
  readonly cursor?: string
}

/** A whole row; integers that a number cannot hold exactly are bigints. */
export type StoredRow = Readonly<Record<string, RowValues[string] | bigint>>

export interface Batch {
  readonly resource: CopiedTable
  readonly rows: readonly StoredRow[]
}

export interface PoolStats {
  readonly part: string
  /** The most connections it may open, and how many it has. */
  readonly size: number
  readonly open: number
  readonly inUse: number
  readonly waiting: number
}

export interface ReplicaState {
  /** Whether it is read from, if it has what the primary has. */
  readonly isUsed: boolean
  /** How often it became unusable. */
  readonly failures: number
}

export interface StorageStats {
  readonly cache: {
    readonly hits: number
    readonly misses: number
    readonly entries: number
    readonly bytes: number
  }
  /** Empty for a database without a server. */
  readonly pools: readonly PoolStats[]
  /** How many reads each database server has answered; only of a database that may have replicas. */
  readonly reads?: ReadonlyMap<string, number>
  readonly replicas?: ReadonlyMap<string, ReplicaState>
  readonly threadRestarts: number
}

/** What reads and writes the tables of a registry. */
export type Tables = Pick<Storage, 'table' | 'batch'>

/** The tables within a transaction, which sees its own changes. Its steps run one after another. */
export interface Transaction extends Tables {
  /** Undoes what some work has changed if it throws, and goes on; within such work others may follow one another, too. */
  undoable<T>(work: () => Promise<T>): Promise<T>
  /** Stores the response of a request with its idempotency key; `earlierWrite` of a table finds it. */
  storeKey(key: IdempotencyKey, body: Buffer): Promise<void>
}

/** A row that has changed, for somebody who follows the changes of its resource. */
export interface Change {
  /** `remove` if the row was one that the reader may read, and is not now. */
  readonly op: 'put' | 'remove'
  readonly id: RowId
  /** When the row has changed last, in milliseconds. */
  readonly at: number
  /** Of a put, the row as it is now, as JSON that the reader may see. */
  readonly row?: Buffer
}

export interface ChangesQuery {
  readonly rights: Rights
  /** The position that an earlier page has returned; undefined for that of now. */
  readonly after: string | undefined
  readonly limit: number
}

/** Each row is in it once. */
export interface ChangesPage {
  readonly changes: readonly Change[]
  /** The position after the page. */
  readonly next: string
  readonly more: boolean
}

/** A change of a row in its history; values are JSON texts, as the log has them. */
export interface HistoryEntry {
  /** Names the entry. */
  readonly position: string
  /** In milliseconds. */
  readonly at: number
  /** The name of the caller; null if another program has made the change. */
  readonly by: string | null
  readonly op: 'create' | 'update' | 'delete'
  readonly changed: ReadonlyMap<string, readonly [before: string, after: string]>
  /** The row as the change left it, of a delete as it was before; undefined once it is erased. */
  readonly row: ReadonlyMap<string, string> | undefined
}

/** The entries of a page, the newest first, and how many there are in all. */
export interface History {
  readonly entries: readonly HistoryEntry[]
  readonly total: number
}

export interface HistoryQuery {
  readonly rights: Rights
  readonly limit: number
  readonly offset: bigint
  /** Only the entry with this position. */
  readonly position?: string | undefined
}

export interface TransactionOptions {
  /** The name of the caller, for the history of the rows. */
  readonly by?: string | undefined
  /** How long it may take from when it holds its connection, or the thread that writes, in milliseconds. */
  readonly timeoutMs: number
}

export interface Storage {
  /**
   * The table of a resource, as a caller with some rights may use it, by default with all; its rows have the rows that some of their
   * references name, as the member `expanded`.
   */
  table(resource: Resource, expand?: readonly string[], rights?: Rights): Table
  /** Makes several writes of any tables durably, all or none. */
  batch(batch: WriteBatch, rights?: Rights): Promise<BatchOutcome>
  /**
   * Runs work as one transaction, as if such transactions ran one after another: what it changes is stored when it has ended, and undone
   * if it throws. It begins again if another write came in between. Throws TransactionTimedOut once its time is over.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options: TransactionOptions): Promise<T>
  /**
   * Stores rows that are read in parts in one transaction, which may begin again; returns the outcome of the first part that cannot
   * be stored, if any.
   */
  importAll(
    resource: Resource,
    created: Import['created'],
    parts: () => AsyncIterable<readonly ImportedRow[]>,
  ): Promise<Exclude<ImportOutcome, { body: unknown }> | undefined>
  /**
   * The rows of a resource with `changes` that have changed after a position, for a reader; `resync` if the position is not one of
   * this database, or older than what is kept. The position does not say whose it is: the caller makes sure of the resource and the rights.
   */
  changes(resource: Resource, query: ChangesQuery): Promise<ChangesPage | 'resync'>
  /** What differs after each change of the tables of these resources, all in one read. */
  versions(resources: readonly Resource[]): Promise<ReadonlyMap<Resource, string>>
  /** Where subscribers of webhooks are, and what they are told next. */
  readonly webhooks: WebhookStore
  /** Deletes some of the entries of the log that are no longer kept; resolves with whether there are more. */
  pruneLog(): Promise<boolean>
  /** The changes of a row of a resource with `history`, as far as the reader sees them; undefined if it may read none. */
  history(resource: Resource, id: RowId, query: HistoryQuery): Promise<History | undefined>
  /** Erases the values of a row from what is kept of its changes; returns false if there is neither the row nor a change of it. */
  eraseHistory(resource: Resource, id: RowId): Promise<boolean>
  /** How many rows some tables have, by default all. */
  counts(resources?: readonly Resource[]): Promise<ReadonlyMap<Resource, number>>
  /**
   * Whole rows, redacted fields included: for copies, never for responses. In order of the table's cursor, after the value that the
   * cursor had in the last row read.
   */
  rows(table: CopiedTable, after: StoredRow[string] | undefined, count: number): Promise<StoredRow[]>
  /** Stores whole, valid rows of any tables in one transaction; references are checked at its end. */
  fill(batches: Iterable<Batch> | AsyncIterable<Batch>, by?: string): Promise<void>
  /** Never waits for the database. */
  stats(): StorageStats
  /**
   * Resolves when the database responds: whether it can be written, whether this service has the right to, and the tables that no
   * longer fit their descriptors.
   */
  ping(): Promise<{
    readonly isReadOnly: boolean
    readonly mayWrite?: boolean
    readonly changedTables: readonly string[]
  }>
  close(): Promise<void>
}

/** Whether a table has a row. Queries the table: stored counts may be wrong after a restore. */
export const hasRows = async (storage: Storage, table: CopiedTable): Promise<boolean> =>
  (await storage.rows(table, undefined, 1)).length > 0

export const emptyResources = async (storage: Storage, registry: Registry): Promise<Resource[]> => {
  const empty: Resource[] = []
  for (const resource of managedResources(registry)) if (!(await hasRows(storage, resource))) empty.push(resource)
  return empty
}
