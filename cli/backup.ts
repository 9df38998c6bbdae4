/** Copies the SQLite database of DATABASE_URL while it is in use: `npm run backup -- FILE`. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { readSettings } from '../engine/settings.js'
import { onEnd } from '../support/cleanup.js'
import { CommandError, runCommand } from '../support/options.js'
import { progressBar } from '../support/progress.js'

/** Pages copied between two progress reports. */
const pagesPerStep = 1_000

const command = {
  name: 'npm run backup',
  about: 'Copies the SQLite database of DATABASE_URL while it is in use, and checks the copy.',
  argument: { name: 'FILE', about: 'the file to write; it must not exist yet', required: true },
  options: {},
  example: 'npm run backup -- /backups/2026-11-15.sqlite',
}

const sync = (path: string): void => {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

const sourceFile = (url: string): string => {
  if (!url.startsWith('sqlite:') || url === 'sqlite::memory:') {
    throw new CommandError('DATABASE_URL is not an SQLite file; for PostgreSQL use pg_dump or pg_basebackup.')
  }
  const source = url.slice('sqlite:'.length)
  if (!existsSync(source)) throw new CommandError(`DATABASE_URL is ${url}, but there is no such file.`)
  return source
}

const checkTarget = (file: string): void => {
  if (existsSync(file)) throw new CommandError(`${file} already exists; choose another name.`)
  const folder = dirname(file)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandError(`The folder ${folder} does not exist; create it first.`)
  }
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

await runCommand(command, async (_, argument) => {
  const file = argument as string
  const source = sourceFile(readSettings(process.env).DATABASE_URL)
  checkTarget(file)
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
  console.log(`Saved the database as of the start of the backup in ${file}; its integrity was checked.`)
})
