/** What every database is opened with, whichever it is. */

/** Told now and then while rows that were there before are being indexed. */
export type Progress = (table: string, done: number, total: number) => void

/** How a database behind a network is reached; one in a file has no use for it. */
export interface PoolOptions {
  /** The most connections of a process. */
  readonly size: number
  /** How long a request waits for a connection, in milliseconds. */
  readonly waitMs: number
  /** How long a connection that nobody uses is kept. */
  readonly idleMs: number
  /** How long a statement may take. */
  readonly statementMs: number
}

export interface Opened {
  readonly created: boolean
  readonly demo: boolean
}

export interface StorageOptions {
  /** Whether the demo data is loaded into a database without rows. */
  readonly demo: boolean
  /** How many bytes of answers may be kept ready. */
  readonly readyBytes: number
  readonly pool: PoolOptions
  /** How long a read may take, in milliseconds. */
  readonly readTimeoutMs: number
  readonly progress: Progress
  /** Told what works less well than it could, and how that is mended. */
  readonly warn: (message: string) => void
  /** Called once the database is ready: whether it was new, and whether the demo data was loaded now. */
  readonly opened?: (event: Opened) => void
}
