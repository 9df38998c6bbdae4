/** Copies an SQLite file while it is in use, and checks the copy. */
import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { progressBar } from '../../engine/process/progress.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { onEnd } from '../../support/cleanup.js'
import { CommandError } from '../../support/options.js'

/** Pages copied between two progress reports. */
const pagesPerStep = 1_000

const sync = (path: string): void => {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

const copyPages = async (source: string, target: string): Promise<void> => {
  const database = new Database(source, { readonly: true, timeout: 5_000 })
  // A read transaction gives one snapshot: commits made during the backup are not in it and do not restart it.
  database.exec('begin')
  database.prepare('select count(*) from sqlite_schema').get()
  const pages = Number(database.pragma('page_count', { simple: true }))
  const report = progressBar('backup', pages, 'pages')
  await database.backup(target, {
    progress({ totalPages, remainingPages }) {
      report(Math.min(pages - 1, totalPages - remainingPages))
      return pagesPerStep
    },
  })
  report(pages)
  database.close()
}

/** Turns the copy into a single file, without -wal and -shm, and checks it. */
const finish = (target: string): void => {
  const copy = new Database(target)
  copy.pragma('journal_mode = DELETE')
  const integrity = copy.pragma('integrity_check', { simple: true })
  copy.close()
  if (integrity !== 'ok') throw new CommandError(`The copy is damaged and was removed: ${integrity}`)
  sync(target)
}

/** Copies a file to one that does not exist yet; an interrupted copy leaves nothing. */
export const copyDatabase = async (source: string, file: string): Promise<void> => {
  const unfinished = `${file}.unfinished`
  const remove = () => {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${unfinished}${suffix}`, { force: true })
  }
  remove()
  onEnd(remove)
  try {
    await copyPages(source, unfinished)
    finish(unfinished)
    // Unlike a rename, a link never replaces a file that was created in the meantime.
    linkSync(unfinished, file)
    sync(dirname(file))
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`The backup failed: ${(error as Error).message}`)
  }
}
