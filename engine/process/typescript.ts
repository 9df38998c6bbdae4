/** Imports a file of a project, TypeScript as it is: where Node does not strip types, they are stripped in memory. */
import * as nodeModule from 'node:module'
import { pathToFileURL } from 'node:url'
import * as hooks from './typescriptHooks.js'

let isReady = false

const registerHooks = (): void => {
  if (isReady) return
  isReady = true
  // Since Node 22.15; before, hooks run in a thread of their own.
  const { registerHooks: register } = nodeModule as { registerHooks?: (functions: typeof hooks) => void }
  if (register) register(hooks)
  else nodeModule.register(new URL('typescriptHooks.js', import.meta.url))
}

export const importFile = async (path: string): Promise<Record<string, unknown>> => {
  registerHooks()
  return (await import(pathToFileURL(path).href)) as Record<string, unknown>
}
