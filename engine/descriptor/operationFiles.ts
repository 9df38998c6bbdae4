/** Loads the files in `operations/`, and verifies what they declare. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isText } from './kinds/index.js'
import { operationIdOf, takenOperationNames } from './names.js'
import { maxTimeoutMs, type OwnOperation, operationMethods } from './operation.js'
import { importProjectFile, namedPosition } from './projectFile.js'
import { idField, type Registry } from './registry.js'
import { type FileError, RegistryError, type Report } from './registryError.js'
import { isSourceFile } from './resourceFiles.js'
import {
  aFunction,
  filledText,
  isObject,
  mandatory,
  parseProperties,
  type Shapes,
  sentence,
  shape,
  trueOrFalse,
} from './shapes.js'

/** An operation with its name, which is that of its file. */
export interface NamedOperation extends OwnOperation {
  readonly name: string
  readonly access: readonly string[]
}

const isSchema = (value: unknown): value is z.ZodType => typeof value === 'object' && value !== null && '_zod' in value

const namesIn = (path: string): string[] => path.match(/\{\w+\}/g) ?? []

const segments = /^\/v1\/[a-z0-9-]+(?:\/(?:[a-z0-9-]+|\{[a-z][a-z0-9_]*\}))*$/
const aSchema = shape('a zod schema', z.custom<z.ZodType>(isSchema))

const properties: Shapes = {
  method: mandatory(shape(`one of ${operationMethods.join(', ')}`, z.enum(operationMethods))),
  path: mandatory(
    shape('lower-case segments after /v1, such as "/v1/visits/{visit_id}/close"', z.string().regex(segments)),
  ),
  about: mandatory(sentence),
  area: shape('a name such as "Visits"', filledText),
  access: shape('a role, or a list of roles', z.union([filledText, z.array(filledText)])),
  query: shape(
    'z.object({ … })',
    z.custom((value) => isSchema(value) && 'shape' in value),
  ),
  body: aSchema,
  response: aSchema,
  transaction: trueOrFalse,
  timeoutMs: shape(`milliseconds, from 1 to ${maxTimeoutMs}`, z.int().min(1).max(maxTimeoutMs)),
  handle: mandatory(shape('a function', aFunction())),
}

/** Reports what is wrong with what a file exports. */
const checkOperation = (exported: unknown, report: Report): void => {
  if (!isObject(exported)) {
    report('the default export is not an operation; write "export default defineOperation({ … })"')
    return
  }
  const valid: Partial<OwnOperation> = parseProperties(exported, properties, report, { reportsUndefined: true })
  const { method, path = '', access, body, transaction, timeoutMs } = valid
  if (new Set(namesIn(path)).size < namesIn(path).length)
    report(`path is "${path}", but it must be a path in which every parameter has its own name`)
  if ([access].flat().includes('public') && method !== 'GET')
    report('access is public, but only a GET can be; name a role, or write signed-in')
  if (method === 'GET' && transaction !== undefined) report('transaction is for operations that write; leave it out')
  if (timeoutMs !== undefined && (method === 'GET' || transaction === false))
    report('timeoutMs is for transactions; leave it out')
  if (body && (method === 'GET' || method === 'DELETE')) report(`a ${method} has no body; use query, or another method`)
}

const serviceIds = 'getIndex getHealth batch probe documents docs root none'.split(' ')

/** The same for all paths that a request could mean: names of parameters do not matter. */
const pathPattern = ({ path }: Pick<OwnOperation, 'path'>): string => path.replaceAll(/\{\w+\}/g, '{}')

/** The operations of resources at a path: also those that a descriptor may add later, apart from changes, which are newer than such paths. */
const isTaken = (registry: Registry, { path }: OwnOperation): boolean => {
  const [, , first = '', second, third] = path.split('/')
  if (['health', 'batch'].includes(first)) return true
  const resource = registry.find((one) => one.path === first)
  if (!resource || third !== undefined) return false
  const isId = second?.startsWith('{') || (isText(idField(resource)) && second !== undefined)
  const isWord = ['summary', 'import'].includes(second ?? '') || (second === 'changes' && resource.changes === true)
  return second === undefined || isId || isWord
}

/** Whether a schema can be a part of the OpenAPI document. */
const isDocumentable = async (schema: z.ZodType): Promise<boolean> => {
  const { OpenAPIRegistry, OpenApiGeneratorV31 } = await import('@asteasolutions/zod-to-openapi')
  const registry = new OpenAPIRegistry()
  try {
    const responses = { 200: { description: '', content: { 'application/json': { schema } } } }
    registry.registerPath({ method: 'get', path: '/', responses })
    const info = { title: '', version: '' }
    new OpenApiGeneratorV31(registry.definitions).generateDocument({ openapi: '3.1.0', info })
    return true
  } catch {
    return false
  }
}

/** Returns every operation of the project in a folder, by name; throws with all errors. */
export const loadOperations = async (project: string, registry: Registry): Promise<NamedOperation[]> => {
  const folder = join(project, 'operations')
  const files = existsSync(folder) ? readdirSync(folder).filter(isSourceFile) : []
  // In the documents, the log and the metrics.
  const usedIds = new Set([...serviceIds, ...registry.flatMap(takenOperationNames)])
  const errors: FileError[] = []
  const operations: NamedOperation[] = []
  for (const file of files.sort()) {
    const name = file.slice(0, -'.ts'.length)
    const report = (message: string) =>
      errors.push({ file: `operations/${file}`, message, position: namedPosition(join(folder, file), message) })
    const module = await importProjectFile(project, `operations/${file}`, errors)
    if (!module) continue
    const { default: exported } = module
    const errorCount = errors.length
    checkOperation(exported, report)
    if (errors.length > errorCount) continue
    const operation = exported as OwnOperation
    const { method, path } = operation
    const samePattern = operations.filter((one) => pathPattern(one) === pathPattern(operation))
    const duplicate = samePattern.find((one) => one.method === method)
    if (duplicate) report(`${method} ${pathPattern(operation)} is also the path of operations/${duplicate.name}.ts`)
    const other = samePattern.find((one) => one.path !== path)
    if (other) report(`${path} is ${other.path} in operations/${other.name}.ts; give its parameters the same names`)
    for (const part of ['query', 'body', 'response'] as const)
      if (operation[part] && !(await isDocumentable(operation[part])))
        report(`${part} has a schema that the documents cannot show; use what JSON has`)
    const id = operationIdOf(name)
    const isUsed =
      operations.some((one) => operationIdOf(one.name) === id) || usedIds.has(id) || id.startsWith('explore')
    if (!/^[a-z][\w-]*$/i.test(name)) report('the name must have only A–Z, a–z, 0–9 and -, and begin with a letter')
    else if (isUsed) report(`another operation is called ${id}; give this file another name`)
    if (isTaken(registry, operation))
      report(`${operation.path} is a path of a resource or of the service; choose another`)
    operations.push({ ...operation, name, access: [operation.access ?? []].flat() })
  }
  if (errors.length > 0) throw new RegistryError(errors)
  return operations
}
