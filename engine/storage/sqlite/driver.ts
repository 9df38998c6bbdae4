/** Chooses the version of better-sqlite3 for this version of Node. */
import type BetterSqlite3 from 'better-sqlite3'

/** Version 13 crashes on Node 20; version 12 aborts on Node 24.19 and newer. */
export const driverName = Number.parseInt(process.versions.node, 10) < 22 ? 'better-sqlite3-node20' : 'better-sqlite3'

const { default: Database } = (await import(driverName)) as { default: typeof BetterSqlite3 }

export { Database }
