/** Loads the version of better-sqlite3 for this version of Node. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { StorageError } from '../storage.js'

/** Version 13 crashes on Node 20; version 12 aborts on Node 24.19 and newer. */
const isOld = Number.parseInt(process.versions.node, 10) < 22
const name = isOld ? 'better-sqlite3-node20' : 'better-sqlite3'

const load = async () => {
  try {
    const { default: Database } = (await import(name)) as { default: typeof BetterSqlite3 }
    // The first database loads the native code.
    new Database(':memory:').close()
    const manifest = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    return { Database, driver: `better-sqlite3 ${version}` }
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    const advice = isOld
      ? ' On Node 20 this may need a C++ compiler, make and Python; Node 22 and newer need none.'
      : ''
    throw new StorageError(
      `The package ${name} cannot be loaded, so the installation is incomplete: run npm ci again.${advice} (${reason})`,
    )
  }
}

export const { Database, driver } = await load()
