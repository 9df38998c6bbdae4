/** The office: the deployment that the engine's tests use, with demo rows, whatever is in `resources/`. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { officeFolder } from './officeFiles.js'
import { startService } from './service.js'

export const office: Registry = await loadRegistry(officeFolder)

export const inOffice = (path: string): Resource => office.find((resource) => resource.path === path) as Resource

/** Starts a service of the office. */
export const startOffice: typeof startService = (settings) => startService({ registry: office, ...settings })
