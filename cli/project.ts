/** The project that a command works on: the folder in which it was started. */
import { loadRegistry } from '../engine/descriptor/load.js'
import type { Registry } from '../engine/descriptor/registry.js'
import { readSettings, type Settings } from '../engine/process/settings.js'
import { loadProduct } from '../engine/product.js'
import { loadMigrations, type MigrationFile } from '../engine/storage/migration/migrationFiles.js'

export const projectFolder = (): string => process.cwd()

export const projectRegistry = (warn?: (message: string) => void): Promise<Registry> =>
  loadRegistry(projectFolder(), warn)

export const projectMigrations = (): MigrationFile[] => loadMigrations(projectFolder())

/** The settings in the environment, with the defaults of the project. */
export const projectSettings = async (): Promise<Settings> =>
  readSettings(process.env, (await loadProduct(projectFolder())).product)
