/** The options that every database is opened and migrated with. */
import type { Resource } from '../descriptor/registry.js'
import type { MigrationEntry } from './migration/dataSteps.js'
import type { Difference } from './migration/difference.js'
import type { Step } from './migration/migrationDialect.js'
import type { MigrationFile } from './migration/migrationFiles.js'
import type { MigrationPlan } from './migration/migrationPlan.js'
import type { Trace } from './trace.js'

type Progress = (table: string, done: number, total: number) => void

export interface PoolOptions {
  readonly size: number
  /** How long a request waits for a connection, in milliseconds. */
  readonly waitMs: number
  readonly idleMs: number
  readonly statementMs: number
  /** Whether statements are prepared; by default they are, unless a pooler does not support them. */
  readonly preparedStatements?: 'auto' | 'on' | 'off'
}

export interface Opened {
  readonly created: boolean
  /** What was changed in existing tables: `books: reason is added`. */
  readonly changes: readonly string[]
  readonly demo: boolean
  /** The package that reads the file, and its version. */
  readonly driver?: string
}

export interface ChangeOptions {
  readonly progress: Progress
  /** Called with what is wrong but does not prevent a start, and how to correct it. */
  readonly warn: (message: string) => void
  /** PostgreSQL: `false` creates tables, keys and indexes, and nothing that maintains totals, versions and searches. */
  readonly derivedObjects?: boolean
  /** The approved changes, which a start does not make by itself. */
  readonly approvals?: readonly string[]
  /** Called before the first change, if there is any. */
  readonly beforeChanges?: (isRunningFiles: boolean) => Promise<void>
  /** The files in `migrations/`; a start is refused while one of them has not run. */
  readonly files?: readonly MigrationFile[]
  /** What a new database records instead of all files: those that have run where its rows come from. */
  readonly recorded?: readonly MigrationEntry[] | undefined
  /** Only for the command that migrates, which runs the files. */
  readonly command?: {
    /** The names of files that were changed or are missing, rightly. */
    readonly accepted: readonly string[]
    /** Called when steps are stored. */
    readonly done: (steps: readonly Pick<Step, 'about'>[]) => void
  }
}

export interface MigrateOptions extends ChangeOptions {
  /** How long to wait for a connection, in milliseconds. */
  readonly waitMs: number
  /** Whether counts that differ from the rows are computed again. */
  readonly isRecounting?: boolean
}

/** What a migration did: its steps, and the differences that remain. */
export interface Migrated extends MigrationPlan {
  /** The resources whose counts differed from their rows. */
  readonly miscounted: readonly Resource[]
  /** The rows that break rules. */
  readonly broken: readonly Difference[]
}

export interface StorageOptions extends ChangeOptions {
  readonly demo: boolean
  readonly cacheBytes: number
  /** How long a read may take, in milliseconds. */
  readonly readTimeoutMs: number
  /** How long changes are kept; 30 days by default. */
  readonly changesDays?: number
  readonly pool: PoolOptions
  readonly readUrls?: readonly string[]
  /** How long to wait for a database server that is down, in milliseconds; by default it does not wait. */
  readonly startWaitMs?: number
  /** Called with plans, cache hits and times; only for the debug log, because it costs time. */
  readonly trace?: Trace | undefined
  /** Called once the database is ready: whether it was new, and whether the demo data was loaded now. */
  readonly opened?: (event: Opened) => void
}
