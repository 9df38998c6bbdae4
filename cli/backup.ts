/** Copies the SQLite database of DATABASE_URL while it is in use: `npm run backup -- FILE`. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { readSettings } from '../engine/settings.js'
import { onEnd } from '../support/cleanup.js'
import { CommandError, runCommand } from '../support/options.js'
import { progressBar } from '../support/progress.js'

/** How many pages are copied between two reports. */
const pagesAStep = 1_000

const command = {
  name: 'npm run backup',
  about: 'Copies the SQLite database that DATABASE_URL names, while it is in use, and checks the copy.',
  argument: { name: 'FILE', about: 'the file to write; it must not exist yet', required: true },
  options: {},
  example: 'npm run backup -- /backups/2026-11-15.sqlite',
}

/** Brings what was written to a path to disk. */
const sync = (path: string): void => {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

/** The file of the database, or a CommandError. */
const sourceOf = (url: string): string => {
  if (!url.startsWith('sqlite:') || url === 'sqlite::memory:') {
    throw new CommandError('DATABASE_URL is not an SQLite file; a PostgreSQL server has pg_dump and pg_basebackup.')
  }
  const source = url.slice('sqlite:'.length)
  if (!existsSync(source)) throw new CommandError(`DATABASE_URL is ${url}, but there is no such file.`)
  return source
}

const refuseTarget = (file: string): void => {
  if (existsSync(file)) throw new CommandError(`${file} exists; a backup never overwrites a file.`)
  const folder = dirname(file)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandError(`The folder ${folder} does not exist; create it first.`)
  }
}

const copyPages = async (source: string, target: string): Promise<void> => {
  const database = new Database(source, { readonly: true, timeout: 5_000 })
  // One snapshot from the first page to the last: what is committed meanwhile is not in it, and cannot disturb it.
  database.exec('begin')
  database.prepare('select count(*) from sqlite_schema').get()
  const pages = Number(database.pragma('page_count', { simple: true }))
  const report = progressBar('backup', pages, 'pages')
  await database.backup(target, {
    progress({ totalPages, remainingPages }) {
      report(Math.min(pages - 1, totalPages - remainingPages))
      return pagesAStep
    },
  })
  report(pages)
  database.close()
}

/** Makes the copy a file of its own, without the two that stand beside a database in use, and checks it. */
const finish = (target: string): void => {
  const copy = new Database(target)
  copy.pragma('journal_mode = DELETE')
  const found = copy.pragma('integrity_check', { simple: true })
  copy.close()
  if (found !== 'ok') throw new CommandError(`The copy is damaged and was not kept: ${found}`)
  sync(target)
}

await runCommand(command, async (_, argument) => {
  const file = argument as string
  const source = sourceOf(readSettings(process.env).DATABASE_URL)
  refuseTarget(file)
  const unfinished = `${file}.unfinished`
  const remove = () => {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${unfinished}${suffix}`, { force: true })
  }
  remove()
  onEnd(remove)
  try {
    await copyPages(source, unfinished)
    finish(unfinished)
    // Unlike renaming, linking never replaces a file that has come to be there.
    linkSync(unfinished, file)
    sync(dirname(file))
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`The backup failed: ${(error as Error).message}`)
  }
  console.log(`${file} holds the database as it was when the backup began; its integrity was checked.`)
})
