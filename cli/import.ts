/** Stores the rows of a file in the database of DATABASE_URL, all or none: `npm run import -- books books.csv`. */
import { createWriteStream, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { HttpError, type Issue } from '../engine/contract/errors.js'
import { matchFields } from '../engine/contract/importParameters.js'
import { type ImportType, rowReader } from '../engine/contract/importRows.js'
import { constraintIssue } from '../engine/contract/issues.js'
import { importReaders } from '../engine/contract/verbs.js'
import { service as serviceCaller } from '../engine/descriptor/access.js'
import { loadHooks } from '../engine/descriptor/hookFiles.js'
import { isApiError } from '../engine/descriptor/operation.js'
import type { Resource } from '../engine/descriptor/registry.js'
import { withoutStart } from '../engine/descriptor/rowRules.js'
import { permitFor } from '../engine/http/callers.js'
import {
  addConflicts,
  createdIds,
  findRefused,
  importChecker,
  importedFields,
  issueList,
} from '../engine/http/importChecks.js'
import { hasHooks, importWithin, transactImport, type Writing } from '../engine/http/transact.js'
import { digestSet } from '../engine/process/digestSet.js'
import { endProgressLine, progressBar } from '../engine/process/progress.js'
import { OutcomeUnknown } from '../engine/storage/failures.js'
import { openStorage } from '../engine/storage/open.js'
import type { Table, Transaction } from '../engine/storage/storage.js'
import type { Import, ImportedRow, ImportOutcome } from '../engine/storage/writeData.js'
import { temporaryFolder } from '../support/cleanup.js'
import { describeFailure } from '../support/failures.js'
import { findResource } from '../support/findResource.js'
import { CommandError, defineCommand, flag, optionalText, UsageError } from '../support/options.js'
import { countFileRows, readPieces } from './import/pieces.js'
import { openOptions, requireFile } from './openOptions.js'
import { projectFolder, projectRegistry, projectSettings } from './project.js'

const types: Readonly<Record<string, ImportType>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/json',
}

const command = {
  name: 'import',
  about: 'Stores the rows of a CSV, NDJSON or JSON file in the database of DATABASE_URL: all of them, or none.',
  argument: { name: 'RESOURCE', about: 'path of the resource, such as books', required: true },
  moreArguments: { name: 'FILE', about: 'the file; without one, standard input is read' },
  options: {
    match: optionalText('a unique field: rows that have its value are changed, others are created', 'FIELD'),
    ignore: optionalText('columns or members that are not read, joined by commas', 'NAMES'),
    type: optionalText('csv, ndjson or json, if the name of the file does not say it', 'TYPE'),
    'dry-run': flag('check everything and store nothing'),
  },
  notes:
    'Everything is checked first, without a lock. While the rows are stored, a service on the same SQLite file answers writes with 503. Hooks run as API_TOKEN, without a limit of time.',
  example: 'books books.csv --match isbn',
}

const typeOf = (file: string | undefined, given: string | undefined): ImportType => {
  const name =
    given ??
    extname(file ?? '')
      .slice(1)
      .toLowerCase()
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (type) return type
  throw new UsageError(
    given === undefined
      ? 'Say what the rows are: --type csv, ndjson or json.'
      : `--type is "${given}", but it must be csv, ndjson or json.`,
  )
}

const describeIssue = ({ loc, msg, line }: Issue): string =>
  `  ${line === undefined ? `row ${Number(loc[1]) + 1}` : `line ${line}`}: ${msg}`

/** Throws if there are issues, with the first of them. */
const refuse = (issues: ReturnType<typeof issueList>): void => {
  if (issues.total === 0) return
  const firstIssues = issues.shown.slice(0, 20)
  const more = issues.total - firstIssues.length
  const lines = [...firstIssues.map(describeIssue), ...(more > 0 ? [`  and ${more} more`] : [])]
  throw new CommandError(
    `Nothing was stored. ${issues.total} ${issues.total === 1 ? 'error' : 'errors'}:\n${lines.join('\n')}`,
  )
}

interface Source {
  readonly file: string
  readonly type: ImportType
  readonly match: string | undefined
  readonly ignored: ReadonlySet<string>
}

/** What makes a transaction end, and is undone with it. */
class Refused extends Error {
  readonly failure: Exclude<ImportOutcome, { body: unknown }>

  constructor(failure: Refused['failure']) {
    super('rows were refused')
    this.failure = failure
  }
}

/** Stores the rows with their hooks, without a limit of time; returns the outcome of the first part that cannot be stored. */
const storeWithHooks = async (
  service: Writing,
  resource: Resource,
  created: Import['created'],
  parts: (table: Table) => AsyncIterable<readonly ImportedRow[]>,
  isUndone: boolean,
): Promise<Refused['failure'] | undefined> => {
  const permit = permitFor(serviceCaller)
  const storeParts = async (transaction: Transaction): Promise<undefined> => {
    for await (const rows of parts(transaction.table(resource))) {
      const given = { rows, mode: 'store', created } as const
      const outcome = await importWithin(service, transaction, resource, given, permit)
      if (!('body' in outcome)) throw new Refused(outcome)
    }
  }
  try {
    return await transactImport(service, permit, isUndone, storeParts, Number.POSITIVE_INFINITY)
  } catch (error) {
    if (error instanceof Refused) return error.failure
    throw error
  }
}

/** Makes the functions that check a file, and that store it. */
const importer = (service: Writing, resource: Resource, { file, type, match, ignored }: Source) => {
  const { registry, storage } = service
  const table = storage.table(resource)
  // Whoever operates the service may bring rows in every state.
  const operation = { resource, ...importReaders(withoutStart(resource)) }
  const names = { allowed: importedFields(resource, match), ignored }
  const issues = issueList()
  const created = digestSet()
  let lines: (number | undefined)[] = []

  /** The rows of the file in parts, each with the place of its first row. */
  async function* parts(onProgress: (rows: number) => void, stored = table) {
    const check = importChecker(registry, stored, operation, match)
    const read = rowReader(resource, type, names)
    let from = 0
    for await (const piece of readPieces(file, type)) {
      const rows = [...read(piece)]
      lines = rows.map(({ line }) => line)
      yield { rows: await check(rows, issues, from), from }
      from += rows.length
      onProgress(from)
    }
  }
  return {
    /** Checks every row, and returns how many are created, changed and left as they are. */
    async check(onProgress: (rows: number) => void) {
      const read = rowReader(resource, type, names)
      for await (const piece of readPieces(file, type)) createdIds(resource, read(piece), created)
      const counts = { insert: 0, update: 0, keep: 0 }
      for await (const { rows, from } of parts(onProgress)) {
        for (const { kind } of rows) counts[kind]++
        const outcome = await table.import({ rows, mode: 'check', created })
        if ('conflicts' in outcome) addConflicts(registry, resource, issues, outcome.conflicts, rows, lines, from)
      }
      refuse(issues)
      return counts
    },
    async store(onProgress: (rows: number) => void, isUndone: boolean): Promise<void> {
      let last: { rows: readonly ImportedRow[]; from: number } = { rows: [], from: 0 }
      const storedParts = async function* (stored?: Table) {
        for await (const part of parts(onProgress, stored)) {
          last = part
          refuse(issues)
          yield part.rows
        }
      }
      const failure = hasHooks(service, resource)
        ? await storeWithHooks(service, resource, created, storedParts, isUndone)
        : await storage.importAll(resource, created, storedParts)
      if (!failure) return
      const isRefused = 'refused' in failure
      const conflicts = isRefused
        ? await findRefused(table, last.rows, created)
        : 'conflicts' in failure
          ? failure.conflicts
          : []
      addConflicts(registry, resource, issues, conflicts, last.rows, lines, last.from)
      if (isRefused && conflicts.length === 0)
        throw new CommandError(`Nothing was stored. ${constraintIssue(resource, failure.refused, {}).msg}`)
      if (issues.total === 0)
        throw new CommandError('Nothing was stored, because rows were changed meanwhile. Try again.')
      refuse(issues)
    },
  }
}

/** Standard input as a file: it is read twice. */
const spool = async (): Promise<string> => {
  const file = join(temporaryFolder('import').path, 'rows')
  await pipeline(process.stdin, createWriteStream(file))
  return file
}

export default defineCommand(
  command,
  async ({ match, ignore, type: given, 'dry-run': isDryRun }, argument, [path, ...others]) => {
    const settings = await projectSettings()
    if (others.length > 0) throw new UsageError(`Unexpected argument "${others[0]}". See --help.`)
    const registry = await projectRegistry()
    const resource = findResource(registry, 'RESOURCE', argument as string)
    const type = typeOf(path, given)
    const expected = matchFields(resource)
    if (match !== undefined && !expected.includes(match))
      throw new UsageError(
        expected.length === 0
          ? `--match needs update: true in ${resource.path}.ts.`
          : `--match is "${match}", but it must be ${expected.join(' or ')}.`,
      )
    requireFile(settings.DATABASE_URL)
    const file = path ?? (await spool())
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new CommandError(`There is no file ${file}.`)
    const storage = await openStorage(registry, settings.DATABASE_URL, openOptions(settings, 2, 600_000))
    try {
      const ignored = new Set(ignore === undefined ? [] : ignore.split(',').map((name) => name.trim()))
      const hooks = await loadHooks(projectFolder(), registry)
      const { check, store } = importer({ registry, storage, hooks }, resource, { file, type, match, ignored })
      const { insert, update, keep } = await check(progressBar('Checking', await countFileRows(file, type), 'rows'))
      endProgressLine()
      const done = `${insert} created, ${update} changed, ${keep} unchanged`
      if (!isDryRun || hasHooks({ hooks }, resource))
        await store(progressBar('Storing', insert + update + keep, 'rows'), isDryRun === true)
      console.log(isDryRun ? `Nothing was stored. It would be: ${done}.` : `Stored ${resource.path}: ${done}.`)
    } catch (error) {
      if (isApiError(error)) throw new CommandError(`Nothing was stored. ${error.message}`)
      const failure = error instanceof OutcomeUnknown ? undefined : describeFailure(error)
      if (failure !== undefined) throw new CommandError(`Nothing was stored. ${failure}`)
      if (!(error instanceof HttpError)) throw error
      const { issues = [] } = (error.body as { error: { details?: { issues?: Issue[] } } }).error.details ?? {}
      throw new CommandError(`Nothing was stored. ${issues.map((issue) => describeIssue(issue).trim()).join('\n')}`)
    } finally {
      await storage.close()
    }
  },
)
