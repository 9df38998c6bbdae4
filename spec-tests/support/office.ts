/** The office: the deployment that the engine's tests use, with demo rows, whatever is in `resources/`. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { resources, seeds } from './officeFiles.js'

export const office: Registry = await loadRegistry({ resources, seeds })

export const inOffice = (path: string): Resource => office.find((resource) => resource.path === path) as Resource
