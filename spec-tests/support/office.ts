/** The office: the deployment that the engine's tests use, with demo rows, whatever is in `resources/`. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { resources, seeds } from './officeFiles.js'

export const office: Registry = await loadRegistry({ resources, seeds })
