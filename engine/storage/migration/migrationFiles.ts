/** Reads the files in `migrations/` of a project: SQL that is run once on each database. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileError, RegistryError } from '../../descriptor/registryError.js'
import { positionBetween } from '../../descriptor/sourceFile.js'
import { type DatabaseName, refusedStatements, type SqlError, type SqlStatement, splitSql } from './sqlStatements.js'

export interface MigrationFile {
  /** Relative to the folder of the project: `migrations/2026-11-19-split-name.sqlite.sql`. */
  readonly file: string
  /** Without the database: `2026-11-19-split-name`. */
  readonly name: string
  /** The only database that it is for; undefined if it is for all. */
  readonly database: DatabaseName | undefined
  readonly text: string
  readonly digest: string
}

export const migrationsFolder = 'migrations'

/** Endings that look like those of a database. */
const otherEndings: Readonly<Record<string, DatabaseName>> = {
  sqlite3: 'sqlite',
  postgresql: 'postgres',
  pg: 'postgres',
  psql: 'postgres',
}

/** The name of a file as one gives it: with or without its folder, its database and its ending. */
export const migrationName = (given: string): string =>
  given.replace(/^(?:.*\/)?/, '').replace(/(?:\.(?:sqlite|postgres))?\.sql$/, '')

const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const readText = (path: string): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).replaceAll('\r\n', '\n')
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Why a file would not be found, or would be taken for another; undefined if nothing is wrong. */
const nameError = (entryName: string): string | undefined => {
  if (!entryName.endsWith('.sql')) return 'is not read; a migration ends with .sql, in lower case'
  const [, ending = ''] = /\.(\w+)\.sql$/.exec(entryName) ?? []
  const database = otherEndings[ending]
  return database && `ends with .${ending}.sql; write .${database}.sql`
}

/** Returns the migrations of the project in a folder, in code-point order of their names; throws with all errors. */
export const loadMigrations = (project: string): MigrationFile[] => {
  const folder = join(project, migrationsFolder)
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
  const errors: FileError[] = []
  const files: MigrationFile[] = []
  for (const entry of entries.filter(({ name }) => /^[^.].*\.sql$/i.test(name))) {
    const file = `${migrationsFolder}/${entry.name}`
    const report = (message: string) => errors.push({ file, message, position: undefined })
    const error = entry.isDirectory() ? 'is a folder' : nameError(entry.name)
    const text = error === undefined ? readText(join(folder, entry.name)) : undefined
    if (text === undefined) {
      report(error ?? 'is not UTF-8')
      continue
    }
    const [, database] = /\.(sqlite|postgres)\.sql$/.exec(entry.name) ?? []
    const digest = createHash('sha256').update(text).digest('hex')
    files.push({ file, name: migrationName(entry.name), database: database as DatabaseName | undefined, text, digest })
  }
  for (const { file, name } of files.filter(({ database }) => database !== undefined)) {
    const other = files.find((one) => one.name === name && one.database === undefined)
    if (other) errors.push({ file, message: `has the name of ${other.file}; rename one of them`, position: undefined })
  }
  if (errors.length > 0) throw new RegistryError(errors)
  return files.sort((a, b) => byCodePoint(a.name, b.name))
}

/** The files that run on a database. */
export const filesFor = (files: readonly MigrationFile[], database: DatabaseName): MigrationFile[] =>
  files.filter((file) => (file.database ?? database) === database)

const fileError = ({ file, text }: MigrationFile, { line, message }: SqlError): FileError => {
  const start =
    text
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length + (line > 1 ? 1 : 0)
  return { file, message, position: positionBetween({ text }, start, start + 1) }
}

/** The statements of a file, and what prevents them from running. */
export const readStatements = (
  file: MigrationFile,
  database: DatabaseName,
): { statements: readonly SqlStatement[]; errors: readonly FileError[] } => {
  const split = splitSql(file.text, database)
  if (!Array.isArray(split)) return { statements: [], errors: [fileError(file, split)] }
  return { statements: split, errors: refusedStatements(split, database).map((error) => fileError(file, error)) }
}
