/** Checks the descriptors and demo rows without starting the service: `npm run check`. */

import { hasAccess } from '../engine/contract/accessDocuments.js'
import { describeRules } from '../engine/descriptor/access.js'
import { accessNames, rulesOf } from '../engine/descriptor/define.js'
import { loadHooks, type NamedHook } from '../engine/descriptor/hookFiles.js'
import { inspectProject } from '../engine/descriptor/load.js'
import { loadOperations } from '../engine/descriptor/operationFiles.js'
import { type Registry, type Resource, updatableFields } from '../engine/descriptor/registry.js'
import { type FileError, RegistryError } from '../engine/descriptor/registryError.js'
import { decidingFields, isPath, ruleNames } from '../engine/descriptor/rulePaths.js'
import type { SourcePosition } from '../engine/descriptor/sourceFile.js'
import { commandLine } from '../engine/process/commandLine.js'
import { loadProduct } from '../engine/product.js'
import { describeDifference } from '../engine/storage/migration/difference.js'
import { readStatements } from '../engine/storage/migration/migrationFiles.js'
import { planStorage } from '../engine/storage/open.js'
import { defineCommand, flag } from '../support/options.js'
import { counted } from './counted.js'
import { projectFolder, projectMigrations, projectSettings } from './project.js'

const command = {
  name: 'check',
  about: 'Checks the descriptors in resources/ and the demo rows in seeds/, and shows the line of every error.',
  options: {
    database: flag('compare the descriptors with the database of DATABASE_URL too'),
    json: flag('print an array of errors, each with file, line, column and message'),
  },
  notes: 'Exit code: 0 if there are no errors, 1 otherwise.',
  example: '--json',
}

/** The most characters of a source line that are shown; demo rows are long. */
const shownLength = 110

/** The source line, cut around the position, and a caret line below it. */
const excerpt = ({ text, column, length }: SourcePosition): string => {
  const start = column + length > shownLength ? Math.max(0, column - shownLength / 2) : 0
  const part = text.slice(start, start + shownLength)
  const line = `${start > 0 ? '…' : ''}${part}${start + shownLength < text.length ? '…' : ''}`
  const before = line.slice(0, column - 1 - start + (start > 0 ? 1 : 0))
  const carets = '^'.repeat(Math.min(length, shownLength - (column - 1 - start)))
  return `    ${line}\n    ${before.replaceAll(/[^\t]/g, ' ')}${carets}`
}

const formatted = ({ file, message, position }: FileError): string => {
  if (!position) return `${file}: ${message}`
  return `${file}:${position.line}:${position.column}: ${message}\n${excerpt(position)}`
}

const printForPeople = (errors: readonly FileError[], resources: number): void => {
  for (const error of errors) console.log(`${formatted(error)}\n`)
  const files = new Set(errors.map(({ file }) => file)).size
  if (errors.length > 0) console.log(`${counted(errors.length, 'error')} in ${counted(files, 'file')}.`)
  else
    console.log(`${counted(resources, 'resource')} and ${resources === 1 ? 'its' : 'their'} demo rows have no errors.`)
}

const verbs = { read: 'sees', create: 'creates', update: 'changes', delete: 'deletes' } as const

/** What decides about the rows of a resource in other resources: `Whoever may write loans.institution_id decides who sees items.` */
const describeDeciding = (resource: Resource): string[] => {
  const verbsByFields = new Map<string, Set<string>>()
  for (const operation of accessNames)
    for (const path of ruleNames(resource, operation).filter(isPath)) {
      const fields = decidingFields(resource, path).join(' or ')
      if (fields !== '') verbsByFields.set(fields, (verbsByFields.get(fields) ?? new Set()).add(verbs[operation]))
    }
  return [...verbsByFields].map(([fields, done]) => {
    const listed = [...done].join(', ').replace(/, ([^,]*)$/, ' and $1')
    return `Whoever may write ${fields} decides who ${listed} ${resource.path}.`
  })
}

/** Who may do what, as a table, and the fields that only some see or set. */
const printAccess = (registry: Registry): void => {
  const rows = registry.map((resource) => {
    const { path, access, create, delete: canDelete } = resource
    const has = { read: true, create, update: updatableFields(resource).length > 0, delete: canDelete }
    const cells = accessNames.map((name) =>
      has[name] ? (access || name !== 'read' ? describeRules(rulesOf(access?.[name])) : 'public') : '–',
    )
    return [path, ...cells]
  })
  const head = ['resource', ...accessNames]
  const widths = head.map((_, n) => Math.max(...[head, ...rows].map((row) => (row[n] as string).length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, n) => cell.padEnd(widths[n] as number))
      .join('  ')
      .trimEnd()
  console.log(['', line(head), ...rows.map(line)].join('\n'))
  for (const { path, fields } of registry)
    for (const { name, readBy, writeBy } of fields) {
      if (readBy) console.log(`${path}.${name} is null for all but ${readBy.join(', ')}.`)
      if (writeBy) console.log(`${path}.${name} is set only by ${writeBy.join(', ')}.`)
    }
  for (const line of registry.flatMap(describeDeciding)) console.log(line)
  console.log('Who has API_TOKEN may do everything.')
}

const printForMachines = (errors: readonly FileError[]): void => {
  const rows = errors.map(({ file, message, position }) => ({
    file,
    line: position?.line ?? null,
    column: position?.column ?? null,
    message,
  }))
  console.log(JSON.stringify(rows, null, 2))
}

/** What would prevent a start on the database of DATABASE_URL, and rows whose responses would break their schema; and what would be better otherwise. */
const compareDatabase = async (registry: Registry): Promise<{ errors: FileError[]; advice: string[] }> => {
  const { DATABASE_URL, POOL_WAIT_MS, DERIVED_OBJECTS: derivedObjects } = await projectSettings()
  const options = { withValues: true, derivedObjects, files: projectMigrations() }
  const { differences, files } = await planStorage(registry, DATABASE_URL, POOL_WAIT_MS, options)
  const pending = files.pending.map((file) => {
    const message = `has not run on the database; run ${commandLine('migrate')}`
    return { file, message, position: undefined }
  })
  const refusing = differences
    .filter(({ isBlocking, isError }) => isBlocking || isError)
    .map((difference) => {
      const resource = registry.find(({ table }) => table === difference.table)
      return { file: `resources/${resource?.path}.ts`, message: describeDifference(difference), position: undefined }
    })
  const optional = differences.filter(({ isBlocking, isError, approval }) => !(isBlocking || isError || approval))
  return { errors: [...pending, ...refusing], advice: optional.map(describeDifference) }
}

/** What is wrong with the files in `migrations/` that run on the database of DATABASE_URL. */
const migrationErrors = async (): Promise<FileError[]> => {
  const files = projectMigrations()
  if (files.length === 0) return []
  const { DATABASE_URL } = await projectSettings()
  const database = DATABASE_URL.startsWith('sqlite:') ? 'sqlite' : 'postgres'
  return files.flatMap((file) => readStatements(file, file.database ?? database).errors)
}

/** What code runs with which writes. */
const printHooks = (hooks: readonly NamedHook[], registry: Registry): void => {
  for (const { name, on, resource } of hooks) {
    const { path } = registry.find(({ table }) => table === resource.table) ?? {}
    console.log(`hooks/${name}.ts runs with ${on.join(', ')} of ${path}.`)
  }
}

/** Loads files; adds the errors with which that fails. */
const collectErrors = async <T>(loading: Promise<T>, errors: FileError[]): Promise<T | undefined> => {
  try {
    return await loading
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    errors.push(...error.errors)
    return undefined
  }
}

export default defineCommand(command, async ({ json, database }) => {
  const folder = projectFolder()
  const inspection = await inspectProject(folder)
  const otherErrors: FileError[] = []
  await collectErrors(loadProduct(folder), otherErrors)
  await collectErrors(loadOperations(folder, inspection.registry), otherErrors)
  otherErrors.push(...((await collectErrors(migrationErrors(), otherErrors)) ?? []))
  // Without every resource, a hook may seem to be of none.
  const hooks =
    inspection.errors.length === 0
      ? await collectErrors(loadHooks(folder, inspection.registry), otherErrors)
      : undefined
  const isComparable = database && inspection.errors.length === 0
  const compared = isComparable ? await compareDatabase(inspection.registry) : { errors: [], advice: [] }
  const errors = [...inspection.errors, ...inspection.seedErrors, ...otherErrors, ...compared.errors].sort(
    (a, b) => a.file.localeCompare(b.file, 'en') || (a.position?.line ?? 0) - (b.position?.line ?? 0),
  )
  if (json) printForMachines(errors)
  else printForPeople(errors, inspection.registry.length)
  const isRestricted =
    hasAccess(inspection.registry) || inspection.registry.some(({ fields }) => fields.some((field) => field.writeBy))
  if (!json && errors.length === 0 && isRestricted) printAccess(inspection.registry)
  if (!json) for (const line of compared.advice) console.log(`Optional: ${line}`)
  if (!json && errors.length === 0) printHooks(hooks ?? [], inspection.registry)
  process.exitCode = errors.length > 0 ? 1 : 0
})
