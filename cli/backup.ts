/** Copies the database while it is in use: `npm run backup -- FILE`, from the database of DATABASE_URL. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { readSettings } from '../engine/settings.js'
import { progressBar } from '../support/progress.js'

/** How many pages are copied before the bar is drawn again. */
const pagesAStep = 1_000

const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}

/** Makes what was written there last. */
const sync = (path: string): void => {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

const [target] = process.argv.slice(2)
if (!target) fail('Name the file to write: npm run backup -- FILE')
const file = target as string
const { DATABASE_URL } = readSettings(process.env)
if (!DATABASE_URL.startsWith('sqlite:') || DATABASE_URL === 'sqlite::memory:') {
  fail('This copies an SQLite file; a server has tools of its own (pg_dump, pg_basebackup).')
}
const source = DATABASE_URL.slice('sqlite:'.length)
if (!existsSync(source)) fail(`There is no database at ${source}.`)
if (existsSync(file)) fail(`${file} exists, and no backup is written over anything.`)

const unfinished = `${file}.unfinished`
rmSync(unfinished, { force: true })
const database = new Database(source, { readonly: true, timeout: 5_000 })
// One snapshot from the first page to the last: what is committed meanwhile is not in it, and cannot disturb it.
database.exec('begin')
database.prepare('select count(*) from sqlite_schema').get()
const pages = Number(database.pragma('page_count', { simple: true }))
const bar = progressBar('backup', pages, 'pages')
await database.backup(unfinished, {
  progress({ totalPages, remainingPages }) {
    bar(Math.min(pages, totalPages - remainingPages))
    return pagesAStep
  },
})
bar(pages)
database.close()

const copy = new Database(unfinished)
// A file of its own, without the two that stand beside a database in use.
copy.pragma('journal_mode = DELETE')
const found = copy.pragma('integrity_check', { simple: true })
copy.close()
if (found !== 'ok') fail(`The copy is damaged and was left at ${unfinished}: ${found}`)
sync(unfinished)
// Unlike renaming, linking never replaces a file that has come to be there.
linkSync(unfinished, file)
rmSync(unfinished)
sync(dirname(file))
console.log(`${file} holds the database as it was when the backup began; its integrity was checked.`)
