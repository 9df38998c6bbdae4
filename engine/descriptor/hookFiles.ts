/** Loads the files in `hooks/`, and verifies what they declare. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Descriptor } from './define.js'
import { type HookOperation, hookOperations, type OwnHook } from './hook.js'
import { importProjectFile, namedPosition } from './projectFile.js'
import type { Registry } from './registry.js'
import { type FileError, RegistryError, type Report } from './registryError.js'
import { isSourceFile } from './resourceFiles.js'
import { aFunction, isObject, mandatory, parseProperties, type Shapes, shape } from './shapes.js'

/** A hook with its name, which is that of its file. */
export interface NamedHook extends OwnHook<Pick<Descriptor, 'table'>, HookOperation> {
  readonly name: string
}

const properties: Shapes = {
  resource: mandatory(shape('the default export of a file in resources/', z.looseObject({ table: z.string() }))),
  on: mandatory(shape(`a list of ${hookOperations.join(', ')}`, z.array(z.enum(hookOperations)).min(1).readonly())),
  handle: mandatory(shape('a function', aFunction())),
}

/** Reports what is wrong with what a file exports. */
const checkHook = (registry: Registry, exported: unknown, report: Report): void => {
  if (!isObject(exported)) {
    report('the default export is not a hook; write "export default defineHook({ … })"')
    return
  }
  const valid = parseProperties(exported, properties, report, { reportsUndefined: true }) as Partial<NamedHook>
  const { resource } = valid
  if (resource && !registry.some(({ table }) => table === resource.table))
    report('resource is no resource of this project; import it from ../resources/')
}

/** Returns every hook of the project in a folder, in the order of their files; throws with all errors. */
export const loadHooks = async (project: string, registry: Registry): Promise<NamedHook[]> => {
  const folder = join(project, 'hooks')
  const files = existsSync(folder) ? readdirSync(folder).filter(isSourceFile).sort() : []
  const errors: FileError[] = []
  const hooks: NamedHook[] = []
  for (const file of files) {
    const report = (message: string) =>
      errors.push({ file: `hooks/${file}`, message, position: namedPosition(join(folder, file), message) })
    const module = await importProjectFile(project, `hooks/${file}`, errors)
    if (!module) continue
    const count = errors.length
    checkHook(registry, module['default'], report)
    if (errors.length === count) hooks.push({ ...(module['default'] as NamedHook), name: file.slice(0, -'.ts'.length) })
  }
  if (errors.length > 0) throw new RegistryError(errors)
  return hooks
}
