/** Loads the version of better-sqlite3 for this version of Node. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { StorageError } from '../failures.js'

/** Version 13 crashes on Node 20; version 12 aborts on Node 24.19 and newer. */
const isOld = Number.parseInt(process.versions.node, 10) < 22
const name = isOld ? 'better-sqlite3-node20' : 'better-sqlite3'

/** What the driver for Node 20 is built with where there is no binary of it, and the commands that provide it. */
const tools: Readonly<Record<string, readonly string[]>> = {
  python3: ['python3', 'python'],
  make: ['make', 'gmake'],
  'a C++ compiler (g++ or clang++)': ['g++', 'c++', 'clang++'],
}

/** What to do about a driver that is not installed. npm ends with 0 although it could not build it, because it is optional. */
export const installAdvice = (isBuilt: boolean, path = ''): string => {
  if (!isBuilt) return 'run npm ci again.'
  const isFound = (command: string) => path.split(delimiter).some((folder) => existsSync(join(folder, command)))
  const missing = Object.keys(tools).filter((tool) => !tools[tool]?.some(isFound))
  const needed = 'npm ci found no binary of it for Node 20 on this machine and could not build it'
  return missing.length > 0
    ? `${needed}. Install ${missing.join(', ')} and run npm ci again, or use Node 22 or newer, which needs none of them.`
    : `${needed}. Run npm ci --foreground-scripts to see why, or use Node 22 or newer, which needs no compiler.`
}

const load = async () => {
  try {
    const { default: Database } = (await import(name)) as { default: typeof BetterSqlite3 }
    // The first database loads the native code.
    new Database(':memory:').close()
    const manifest = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    return { Database, driver: `better-sqlite3 ${version}` }
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.? Tried:|\n/)
    const advice = installAdvice(isOld, process.env['PATH'])
    throw new StorageError(`SQLite's driver, the package ${name}, cannot be loaded: ${advice} (${reason})`)
  }
}

const loaded = await load()
export const Database: typeof BetterSqlite3 = loaded.Database
export const { driver } = loaded
