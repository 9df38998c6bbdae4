/** What a project says about its service as a whole, in `product.ts`: its name, version and middleware. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Middleware } from 'koa'
import type { Product } from './contract/service.js'
import { didYouMean } from './descriptor/nearest.js'
import { importProjectFile, namedPosition } from './descriptor/projectFile.js'
import { type FileError, formatValue, RegistryError } from './descriptor/registryError.js'

export interface ProductFile {
  readonly product: Product
  readonly middleware: readonly Middleware[]
}

const file = 'product.ts'

const parseManifest = (text: string): { name?: string; description?: string; version?: string } => {
  try {
    return JSON.parse(text) as object
  } catch {
    throw new RegistryError([{ file: 'package.json', message: 'is not valid JSON', position: undefined }])
  }
}

/** The product of a project without `product.ts`, from its package.json. */
const defaultProduct = (folder: string): Product => {
  const path = join(folder, 'package.json')
  const text = existsSync(path) ? readFileSync(path, 'utf8').replace('\uFEFF', '') : '{}'
  const { name = basename(folder), description, version = '1.0.0' } = parseManifest(text)
  return { name, about: description || `The API of ${name}.`, version }
}

const members: Readonly<Record<keyof Product, 'string' | 'object' | 'boolean'>> = {
  name: 'string',
  about: 'string',
  version: 'string',
  license: 'string',
  contact: 'object',
  batch: 'boolean',
  database: 'string',
}
const required: readonly string[] = ['name', 'about', 'version']

/** What is wrong with the exports of a file. */
const errorsIn = ({ product, middleware = [] }: Readonly<Record<string, unknown>>): string[] => {
  if (typeof product !== 'object' || product === null)
    return ['does not export a product; write "export const product: Product = { … }"']
  const wrong = (name: string, value: unknown, expected: string) =>
    `${name} is ${formatValue(value)}, but it must be ${expected}`
  const names = Object.keys(members)
  const given = product as Readonly<Record<string, unknown>>
  const isInvalid = ([name, type]: [string, string]) =>
    given[name] === undefined
      ? required.includes(name)
      : typeof given[name] !== type || given[name] === null || given[name] === ''
  const nouns = { string: 'a text', object: 'an object, such as { name: "API support" }', boolean: 'true or false' }
  const isMiddleware = Array.isArray(middleware) && middleware.every((one) => typeof one === 'function')
  return [
    ...Object.keys(given)
      .filter((name) => !names.includes(name))
      .map(
        (name) =>
          `unknown property "${name}" of product${didYouMean(name, names) || `; it must be one of ${names.join(', ')}`}`,
      ),
    ...Object.entries(members)
      .filter(isInvalid)
      .map(([name, type]) => wrong(`product.${name}`, given[name], nouns[type])),
    ...(isMiddleware ? [] : [wrong('middleware', middleware, 'an array of Koa middleware')]),
  ]
}

/** Reads the product of the project in a folder; throws with all errors. */
export const loadProduct = async (folder: string): Promise<ProductFile> => {
  if (!existsSync(join(folder, file))) return { product: defaultProduct(folder), middleware: [] }
  const errors: FileError[] = []
  const module = await importProjectFile(folder, file, errors)
  const report = (message: string) =>
    errors.push({ file, message, position: namedPosition(join(folder, file), message) })
  for (const message of module ? errorsIn(module) : []) report(message)
  if (!module || errors.length > 0) throw new RegistryError(errors)
  return { middleware: [], ...module } as unknown as ProductFile
}
