/** The office: the deployment that the engine's tests use, with demo rows, whatever is in `resources/`. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { officeFolder } from './officeFiles.js'
import { startService } from './service.js'

/** How many rows of attendance there are, for pages far from the first one: those of the file, over and over. */
const attendanceRows = 800

const withManyRows = (resource: Resource): Resource => {
  const rows = resource.demo
  if (resource.path !== 'attendance') return resource
  return {
    ...resource,
    demo: Array.from({ length: attendanceRows }, (_, n) => ({ ...rows[n % rows.length], id: n + 1 })),
  }
}

export const office: Registry = (await loadRegistry(officeFolder)).map(withManyRows)

export const inOffice = (path: string): Resource => office.find((resource) => resource.path === path) as Resource

/** Starts a service of the office. */
export const startOffice: typeof startService = (settings) => startService({ registry: office, ...settings })
