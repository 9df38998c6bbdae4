/** Writes a new file in `migrations/`: `npm run migrate -- --draft NAME`. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Registry } from '../../engine/descriptor/registry.js'
import { commandLine } from '../../engine/process/commandLine.js'
import { loadMigrations, migrationsFolder } from '../../engine/storage/migration/migrationFiles.js'
import { draftStorage } from '../../engine/storage/open.js'
import { CommandError, UsageError } from '../../support/options.js'
import { projectFolder } from '../project.js'

export const writeDraft = async (
  registry: Registry,
  url: string,
  given: string,
  options: Parameters<typeof draftStorage>[2],
): Promise<void> => {
  if (!/^\w[\w-]*$/.test(given))
    throw new UsageError(
      `--draft is ${JSON.stringify(given)}, but it must be letters, digits, "-" and "_", such as split-name.`,
    )
  const name = `${new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)}-${given}`
  const file = `${migrationsFolder}/${name}.sql`
  const existing = loadMigrations(projectFolder()).find((one) => one.name === name)
  if (existing || existsSync(join(projectFolder(), file)))
    throw new CommandError(`There is ${existing?.file ?? file} already; choose another name.`)
  const text = await draftStorage(registry, url, options)
  mkdirSync(join(projectFolder(), migrationsFolder), { recursive: true })
  writeFileSync(join(projectFolder(), file), text, { flag: 'wx' })
  console.log(`Wrote ${file}. Edit it, and run ${commandLine('migrate')}.`)
}
