/** Writes the descriptor and the demo rows of a new resource: `npm run new -- training-courses title:text! --create`. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { basePath } from '../engine/contract/service.js'
import { RegistryError } from '../engine/descriptor/registryError.js'
import { isSourceFile } from '../engine/descriptor/resourceFiles.js'
import { commandLine } from '../engine/process/commandLine.js'
import {
  alignedLines,
  CommandError,
  defineCommand,
  flag,
  integer,
  optionalText,
  UsageError,
} from '../support/options.js'
import { counted } from './counted.js'
import { demoRows, seedsText } from './new/demoRows.js'
import { descriptorText } from './new/descriptorText.js'
import { fieldSyntax, parseFields } from './new/fieldArgument.js'
import { writeVerified } from './new/files.js'
import { checkPath, defaultArea, resourceNames, tableName } from './new/names.js'
import type { NewResource } from './new/plan.js'
import { projectFolder, projectRegistry } from './project.js'

const command = {
  name: 'new',
  about: 'Writes the descriptor and the demo rows of a new resource.',
  argument: { name: 'PATH', about: 'its path, lower-case words joined by "-"', required: true },
  moreArguments: { name: 'FIELD', about: 'its fields; see below' },
  options: {
    create: flag('clients with the write token may create rows'),
    update: flag('they may change rows'),
    delete: flag('they may delete rows'),
    name: optionalText('singular name', 'TEXT', 'derived from PATH'),
    plural: optionalText('plural name', 'TEXT', 'derived from the name'),
    area: optionalText('group in the documents', 'TEXT', 'that of the first referenced resource'),
    about: optionalText('one sentence for the documents', 'TEXT'),
    table: optionalText('database table', 'NAME', 'derived from PATH'),
    rows: integer('number of demo rows', 12, { min: 0, max: 1_000 }),
  },
  notes: fieldSyntax,
  example: 'books title:text! pages:integer author_id:authors status:text=Planned --create',
}

const nextSteps = (path: string, hasRows: boolean): string =>
  `Next:\n${alignedLines([
    [commandLine('check'), 'shows the line of every error'],
    [commandLine('test'), 'tests it like every other resource'],
    [commandLine('start'), `serves it at ${basePath}/v1/${path}`],
    ...(hasRows
      ? [[commandLine('seed', `--demo ${path}`), 'loads its demo rows into a database that has other rows'] as const]
      : []),
    [commandLine('contract', '--accept'), 'records its operations in docs/openapi.json'],
  ])}`

export default defineCommand(
  command,
  async ({ create, update, delete: isDeletable, area, about, rows: wanted, ...names }, argument, fields) => {
    const path = argument as string
    // The first resource of a project is written into an empty folder.
    const folder = join(projectFolder(), 'resources')
    const isFirst = !existsSync(folder) || !readdirSync(folder).some(isSourceFile)
    const registry = isFirst ? [] : await projectRegistry()
    checkPath(path, registry)
    if (fields.length === 0) throw new UsageError('FIELD is missing: name at least one, such as title:text!')
    const derived = resourceNames(path)
    const resource: NewResource = {
      path,
      name: names.name ?? derived.name,
      plural: names.plural ?? (names.name === undefined ? derived.plural : undefined),
      area: area ?? defaultArea(fields, registry),
      about,
      table: names.table ?? tableName(path),
      fields: parseFields(fields, registry, path),
      create,
      update,
      delete: isDeletable,
    }
    const files = { descriptor: `resources/${resource.path}.ts`, seeds: `seeds/${resource.path}.json` }
    for (const name of Object.values(files)) {
      if (existsSync(join(projectFolder(), name)))
        throw new CommandError(`${name} already exists; nothing was written.`)
    }

    const rows = demoRows(resource, registry, wanted)
    const descriptor = descriptorText(resource)
    const seeds = rows.length > 0 ? seedsText(rows) : undefined
    const texts = [
      [files.descriptor, descriptor] as const,
      ...(seeds === undefined ? [] : [[files.seeds, seeds] as const]),
    ]
    await writeVerified(texts, async () => {
      const loaded = await projectRegistry().catch((error: Error) => {
        throw error instanceof RegistryError ? new CommandError(`Nothing was written. ${error.message}`) : error
      })
      if (loaded.find((other) => other.path === path)?.demo.length !== rows.length)
        throw new CommandError(`The demo rows of ${path} would not be valid; try --rows 0.`)
    })

    const written = seeds === undefined ? '' : ` and ${files.seeds} (${counted(rows.length, 'row')})`
    console.log(`Wrote ${files.descriptor}${written}.`)
    if (rows.length < wanted)
      console.log('There are fewer demo rows than requested, because a reference has too few rows.')
    console.log(`\n${nextSteps(resource.path, seeds !== undefined)}`)
  },
)
