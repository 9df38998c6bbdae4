/** Writes descriptors for the tables of a database that another program created: `npm run introspect -- DATABASE_URL`. */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inspectProject } from '../engine/descriptor/load.js'
import { nearest } from '../engine/descriptor/nearest.js'
import type { Registry } from '../engine/descriptor/registry.js'
import { commandLine } from '../engine/process/commandLine.js'
import { sqlitePath } from '../engine/process/databaseUrl.js'
import { readSettings } from '../engine/process/settings.js'
import { storageTables } from '../engine/storage/open.js'
import { alignedLines, CommandError, defineCommand, flag, optionalText, text } from '../support/options.js'
import { describeTables } from './introspect/describe.js'
import { descriptorText } from './new/descriptorText.js'
import { writeNew } from './new/files.js'
import { projectFolder } from './project.js'

const command = {
  name: 'introspect',
  about:
    'Writes a descriptor for each table of an existing database, to serve it as it is. Does not change the database.',
  argument: {
    name: 'DATABASE_URL',
    about: 'the database, such as postgres://USER@HOST/NAME or sqlite:PATH',
    required: true,
  },
  options: {
    table: optionalText('only this table', 'NAME', 'every table without a descriptor'),
    replace: flag('delete the descriptors and demo rows of other tables'),
    area: text('group in the documents', 'TEXT', 'General'),
  },
  example: 'sqlite:data/inventory.sqlite --table warehouses',
}

const nextSteps = `
Next: review the files and remove what clients should not see. Then:
${alignedLines([
  [commandLine('check'), 'finds errors in them'],
  [commandLine('start'), 'serves the tables, with this database as DATABASE_URL'],
])}`

/** The files of resources that are not of the database, and of their demo rows. */
const resourceFiles = (resources: Registry): string[] =>
  resources
    .flatMap(({ path }) => [`resources/${path}.ts`, `seeds/${path}.json`])
    .filter((name) => existsSync(join(projectFolder(), name)))

export default defineCommand(command, async ({ table: only, area, replace }, argument) => {
  const url = argument as string
  const path = sqlitePath(url)
  if (path !== undefined && !existsSync(path)) throw new CommandError(`There is no file ${path}.`)
  const tables = await storageTables(url, readSettings(process.env).POOL_WAIT_MS)
  const names = tables.map(({ name }) => name)
  if (only !== undefined && !names.includes(only)) {
    const near = nearest(only, names)
    const advice = near
      ? `Did you mean ${near}?`
      : names.length > 0
        ? `The tables are ${names.join(', ')}.`
        : 'The database has no tables.'
    throw new CommandError(`There is no table "${only}". ${advice}`)
  }
  const wanted = tables.filter(({ name }) => only === undefined || name === only)
  // Works even if other descriptors have errors, or there are none yet.
  const { registry: projectRegistry } = await inspectProject(projectFolder())
  const others = projectRegistry.filter(({ existing, table }) => !existing || !names.includes(table))
  const obsolete = resourceFiles(others)
  const registry = replace ? projectRegistry.filter((resource) => !others.includes(resource)) : projectRegistry
  const described = describeTables(wanted, registry, area)
  const files = described.flatMap(({ resource }) =>
    resource ? [[`resources/${resource.path}.ts`, descriptorText(resource)] as const] : [],
  )
  const existing = registry.filter(({ table }) => wanted.some(({ name }) => name === table))
  const deleted = replace && files.length + existing.length > 0 ? obsolete : []
  for (const name of deleted) rmSync(join(projectFolder(), name))
  const [old, fresh] = [true, false].map((isThere) =>
    files.filter(([name]) => existsSync(join(projectFolder(), name)) === isThere),
  ) as [typeof files, typeof files]
  writeNew(fresh)
  for (const [name] of fresh) console.log(`Wrote ${name}.`)
  for (const name of [...existing.map(({ path }) => `resources/${path}.ts`), ...old.map(([file]) => file)])
    console.log(`${name} already exists and was not changed.`)
  for (const name of deleted) console.log(`Deleted ${name}.`)
  for (const note of described.flatMap(({ notes }) => notes)) console.log(note)
  if (!replace && fresh.length > 0 && obsolete.length > 0) {
    console.log('\nThese files are not of this database. Delete them, or run the command again with --replace:')
    for (const name of obsolete) console.log(`  ${name}`)
  }
  if (fresh.length > 0) console.log(nextSteps)
  else if (existing.length + old.length === 0) throw new CommandError('No table can be served.')
})
