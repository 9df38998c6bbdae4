/** SQLite as a ground: a file for each database, which every peer opens too. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Ground, seed } from './ground.js'
import { dataFolder } from './paths.js'
import { sqlitePeers } from './peers.js'

const pathOf = (name: string): string => join(dataFolder, `${name}.sqlite`)

/** The ground of `npm run bench`. */
export const onSqlite: Ground = {
  report: 'benchmarks',
  title: 'Benchmarks',
  command: 'npm run bench',
  shared: 'every server on the same database file',
  notes: [],
  syncsItself: true,
  port: 4100,
  async database(name, more) {
    const path = pathOf(name)
    if (!existsSync(path)) {
      // An interrupted run may have left some of its rows.
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}.new${suffix}`, { force: true })
      await seed(`sqlite:${path}.new`, more)
      renameSync(`${path}.new`, path)
    }
    return `sqlite:${path}`
  },
  async scratch() {
    const path = pathOf('creates')
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    return `sqlite:${path}`
  },
  peers: (address, bodies, port) => sqlitePeers(address.slice('sqlite:'.length), bodies, port),
  async close() {},
}
