/** Hooks of Node's module loader: a project's files are TypeScript as they are, and import the engine by its name. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripTypes } from './stripTypes.js'

interface LoaderContext {
  readonly parentURL?: string | undefined
  readonly format?: string | undefined
}

/** Continues with the hook of Node; its result is a promise where hooks run in a thread of their own. */
type Next = (specifier: string, context: LoaderContext) => unknown

/** The engine that runs, whatever is installed beside the file: descriptors never come from two versions of it. */
const engine: Readonly<Record<string, string>> = {
  'resource-registry-engine': new URL('../index.js', import.meta.url).href,
  'resource-registry-engine/testing': new URL('../../support/testing.js', import.meta.url).href,
}

const isProjectFile = (url: string): boolean => /^file:.*\.ts$/.test(url) && !url.includes('/node_modules/')

/** The TypeScript file that an import with the name of its compiled file means: `./shared/audit.js`. */
const sourceOf = (specifier: string, parent: string): string | undefined => {
  if (!/^\.\.?\/.*\.js$/.test(specifier)) return undefined
  const [compiled, source] = [specifier, specifier.replace(/js$/, 'ts')].map((name) => new URL(name, parent)) as [
    URL,
    URL,
  ]
  return !existsSync(compiled) && existsSync(source) ? source.href : undefined
}

export const resolve = (specifier: string, context: LoaderContext, next: Next): unknown => {
  if (Object.hasOwn(engine, specifier)) return { url: engine[specifier], format: 'module', shortCircuit: true }
  const { parentURL = '' } = context
  return next((isProjectFile(parentURL) && sourceOf(specifier, parentURL)) || specifier, context)
}

export const load = (url: string, context: LoaderContext, next: Next): unknown => {
  if (!isProjectFile(url)) return next(url, context)
  // Whatever "type" package.json has: descriptors are modules.
  const { typescript } = process.features as { typescript?: string }
  if (typescript) return next(url, { ...context, format: 'module-typescript' })
  return { format: 'module', source: stripTypes(readFileSync(fileURLToPath(url), 'utf8'), url), shortCircuit: true }
}
