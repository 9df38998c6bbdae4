/** The SQLite target: all servers open the same file. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dataFolder } from './paths.js'
import { sqlitePeers } from './peers.js'
import { type BenchTarget, seed } from './target.js'

const pathOf = (name: string): string => join(dataFolder, `${name}.sqlite`)

export const sqliteTarget: BenchTarget = {
  system: 'SQLite',
  command: 'npm run bench',
  setup: 'every server on the same database file',
  notes: [],
  port: 4100,
  async database(name, extraRows) {
    const path = pathOf(name)
    if (!existsSync(path)) {
      // An interrupted run may have left an incomplete file.
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}.new${suffix}`, { force: true })
      await seed(`sqlite:${path}.new`, extraRows)
      renameSync(`${path}.new`, path)
    }
    return `sqlite:${path}`
  },
  peers: (url, bodies, port) => sqlitePeers(url.slice('sqlite:'.length), bodies, port),
  async close() {},
}
