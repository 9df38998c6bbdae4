/** Copies the SQLite database of DATABASE_URL while it is in use: `npm run backup -- FILE`. */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { sqlitePath } from '../engine/process/databaseUrl.js'
import { CommandError, defineCommand } from '../support/options.js'
import { copyDatabase } from './backup/copyDatabase.js'
import { projectSettings } from './project.js'

const command = {
  name: 'backup',
  about: 'Copies the SQLite database of DATABASE_URL while it is in use, and checks the copy.',
  argument: { name: 'FILE', about: 'the file to write; it must not exist yet', required: true },
  options: {},
  example: '/backups/2026-11-15.sqlite',
}

const sourceFile = (url: string): string => {
  const source = sqlitePath(url)
  if (source === undefined || source === ':memory:') {
    throw new CommandError('DATABASE_URL is not an SQLite file; for PostgreSQL use pg_dump or pg_basebackup.')
  }
  if (!statSync(source, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`DATABASE_URL is ${url}, but there is no such file.`)
  return source
}

const checkTarget = (file: string): void => {
  if (existsSync(file)) throw new CommandError(`${file} already exists; choose another name.`)
  const folder = dirname(file)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandError(`The folder ${folder} does not exist; create it first.`)
  }
}

export default defineCommand(command, async (_, argument) => {
  const file = argument as string
  const source = sourceFile((await projectSettings()).DATABASE_URL)
  checkTarget(file)
  await copyDatabase(source, file)
  console.log(`Saved a snapshot of the database in ${file} and checked its integrity.`)
})
