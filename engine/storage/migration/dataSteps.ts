/** Which files of `migrations/` have run on a database: `registry_migrations` has an entry for each. */
import { managedResources, type Registry } from '../../descriptor/registry.js'
import { commandLine } from '../../process/commandLine.js'
import { NothingToDo, StorageError } from '../failures.js'
import { literal } from '../schema.js'
import type { MigrationDialect, OwnTable, Step } from './migrationDialect.js'
import { filesFor, type MigrationFile, migrationName } from './migrationFiles.js'
import { describeSteps, type MigrationPlan } from './migrationPlan.js'

/** That a file has run, with the digest of its text then; that of a file which may be missing is empty. */
export interface MigrationEntry {
  readonly name: string
  readonly digest: string
  readonly at: string
}

export const entriesTable = 'registry_migrations'

const ownTable: OwnTable = {
  create: [`create table ${entriesTable} (name text primary key, digest text not null, at text not null)`],
  columns: ['name', 'digest', 'at'],
}

/** The table of entries, which only databases with such files have. */
export const entriesTables = (files: readonly MigrationFile[]): Readonly<Record<string, OwnTable>> =>
  files.length > 0 ? { [entriesTable]: ownTable } : {}

/** How the files of a project and the entries of a database differ. */
export interface MigrationState {
  readonly entries: readonly MigrationEntry[]
  /** Whether the database has no table of the service, so that all files count as run. */
  readonly isNew: boolean
  readonly pending: readonly MigrationFile[]
  readonly changed: readonly MigrationFile[]
  /** The names of those that have run and are gone. */
  readonly missing: readonly string[]
}

/** Whether a database has no table of the service. */
export const isNewDatabase = async (
  { catalogue, ownTables }: MigrationDialect,
  registry: Registry,
): Promise<boolean> => {
  const tables = managedResources(registry).flatMap(({ table, renamedFromTable = table }) => [table, renamedFromTable])
  for (const name of [entriesTable, ...Object.keys(ownTables), ...tables]) if (await catalogue(name)) return false
  return true
}

export const readMigrationState = async (
  database: MigrationDialect,
  registry: Registry,
  files: readonly MigrationFile[],
): Promise<MigrationState> => {
  const isRecorded = (await database.catalogue(entriesTable)) !== undefined
  const entries = isRecorded
    ? await database.execute<MigrationEntry>(`select name, digest, at from ${entriesTable} order by name`)
    : []
  // A start of a project without such files asks no more.
  const isNew = !isRecorded && files.length > 0 && (await isNewDatabase(database, registry))
  const entryOf = (file: MigrationFile) => entries.find(({ name }) => name === file.name)
  const ownFiles = filesFor(files, database.name)
  return {
    entries,
    isNew,
    pending: isNew ? [] : ownFiles.filter((file) => entryOf(file) === undefined),
    changed: ownFiles.filter((file) => (entryOf(file) ?? file).digest !== file.digest),
    missing: entries
      .filter(({ name, digest }) => digest !== '' && files.every((file) => file.name !== name))
      .map(({ name }) => name),
  }
}

export const insertEntry = ({ name, digest }: Pick<MigrationEntry, 'name' | 'digest'>, at: string): string =>
  `insert into ${entriesTable} (name, digest, at) values (${[name, digest, at].map(literal).join(', ')})`

/** The step that creates the table of entries; in a new database all files count as run, or those that ran where its rows come from. */
export const entriesStep = (
  database: MigrationDialect,
  files: readonly MigrationFile[],
  recorded?: readonly MigrationEntry[],
): Step => {
  const at = new Date().toISOString()
  const counted = filesFor(files, database.name).map(
    (file) => recorded?.find(({ name }) => name === file.name) ?? { ...file, at },
  )
  const others = recorded?.filter(({ name }) => counted.every((entry) => entry.name !== name)) ?? []
  const sql = [...ownTable.create, ...[...counted, ...others].map((entry) => insertEntry(entry, entry.at))]
  if (recorded) return { table: entriesTable, about: 'record the files in migrations/ that have run', sql }
  const names = counted.map(({ name }) => name).join(', ')
  const change = `${names} in migrations/ ${counted.length === 1 ? 'counts' : 'count'} as run, because the database is new`
  return { table: entriesTable, about: `record that ${change}`, changes: counted.length > 0 ? [change] : [], sql }
}

/** What a start changed, in words; in a database that it has created, only which files count as run. */
export const describeStart = ({ steps }: MigrationPlan, isCreated: boolean): string[] =>
  describeSteps({ steps: isCreated ? steps.filter(({ table }) => table === entriesTable) : steps })

/** The entries for a copy of the rows in another database: a file for one database has another text there. */
export const entriesOnCopy = (
  entries: readonly MigrationEntry[],
  files: readonly MigrationFile[],
  [from, to]: readonly [MigrationDialect['name'], MigrationDialect['name']],
): MigrationEntry[] =>
  entries.map((entry) => {
    const [before, after] = [from, to].map((name) => filesFor(files, name).find((file) => file.name === entry.name))
    return before && after && before.digest === entry.digest ? { ...entry, digest: after.digest } : entry
  })

/** Why a start is refused; undefined if every file has run. */
export const whyPending = ({ pending }: Pick<MigrationState, 'pending'>): string | undefined => {
  if (pending.length === 0) return undefined
  const names = pending.map(({ file }) => file).join(', ')
  const have = pending.length === 1 ? `${names} has` : `${pending.length} files have`
  return `${have} not run on this database${pending.length === 1 ? '' : `: ${names}`}. Run ${commandLine('migrate')} first.`
}

/** What is wrong with files that have run. */
export const wrongFiles = ({ changed, missing }: MigrationState): { name: string; message: string }[] => [
  ...changed.map(({ name, file }) => ({ name, message: `${file} was changed after it ran on this database.` })),
  ...missing.map((name) => ({ name, message: `migrations/${name}.sql has run on this database, but is missing.` })),
]

export const acceptCommand = (name: string): string => commandLine('migrate', `--accept ${name}`)

/** Returns the statements that record that files which were changed, or are missing, are right; throws for others. */
export const acceptedEntries = (state: MigrationState, given: readonly string[]): string[] => {
  const wrong = wrongFiles(state)
  const accepted = [...new Set(given.map(migrationName))]
  const unknown = accepted.find((name) => wrong.every((one) => one.name !== name))
  if (unknown !== undefined) {
    const names = wrong.map(({ name }) => name).join(', ')
    const which = names === '' ? 'No file that has run was changed or is missing' : `Those to accept are ${names}`
    throw new NothingToDo(`There is nothing to accept for "${unknown}". ${which}.`)
  }
  const others = wrong.filter(({ name }) => !accepted.includes(name))
  if (others.length > 0) {
    const lines = others.map(
      ({ name, message }) => `${message} Restore it or, if this is right, run: ${acceptCommand(name)}`,
    )
    throw new StorageError(lines.length === 1 ? lines[0] : `files in migrations/ differ:\n  ${lines.join('\n  ')}`)
  }
  return accepted.map((name) => {
    const digest = state.changed.find((file) => file.name === name)?.digest ?? ''
    return `update ${entriesTable} set digest = ${literal(digest)} where name = ${literal(name)}`
  })
}
