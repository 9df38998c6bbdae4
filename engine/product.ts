/** What a project says about its service as a whole, in `product.ts`: its name, version and middleware. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Middleware } from 'koa'
import { z } from 'zod'
import type { Product } from './contract/service.js'
import { importProjectFile, namedPosition } from './descriptor/projectFile.js'
import { type FileError, RegistryError, type Report } from './descriptor/registryError.js'
import {
  aFunction,
  isObject,
  mandatory,
  type Properties,
  parseProperties,
  type Shape,
  shape,
  trueOrFalse,
} from './descriptor/shapes.js'

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

const aText = shape('a text', z.string().min(1))

const properties: Readonly<Record<keyof Product, Shape>> = {
  name: mandatory(aText),
  about: mandatory(aText),
  version: mandatory(aText),
  license: aText,
  contact: shape('an object, such as { name: "API support" }', z.looseObject({})),
  batch: trueOrFalse,
  database: aText,
  keysFile: aText,
}

/** Reports what is wrong with the exports of a file. */
const checkExports = ({ product, middleware }: Properties, report: Report): void => {
  if (!isObject(product)) {
    report('does not export a product; write "export const product: Product = { … }"')
    return
  }
  parseProperties(product, properties, report, { owner: 'product', prefix: 'product.', reportsUndefined: true })
  parseProperties({ middleware }, { middleware: shape('an array of Koa middleware', z.array(aFunction())) }, report)
}

/** Reads the product of the project in a folder; throws with all errors. */
export const loadProduct = async (folder: string): Promise<ProductFile> => {
  if (!existsSync(join(folder, file))) return { product: defaultProduct(folder), middleware: [] }
  const errors: FileError[] = []
  const module = await importProjectFile(folder, file, errors)
  const report = (message: string) =>
    errors.push({ file, message, position: namedPosition(join(folder, file), message) })
  if (module) checkExports(module, report)
  if (!module || errors.length > 0) throw new RegistryError(errors)
  return { middleware: [], ...module } as unknown as ProductFile
}
