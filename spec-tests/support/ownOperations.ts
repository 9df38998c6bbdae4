/** Custom operations and hooks that tests declare, as they are loaded from files. */
import type { OwnHook } from '../../engine/descriptor/hook.js'
import type { NamedHook } from '../../engine/descriptor/hookFiles.js'
import type { OwnOperation } from '../../engine/descriptor/operation.js'
import type { NamedOperation } from '../../engine/descriptor/operationFiles.js'

export const operationsNamed = (named: Readonly<Record<string, unknown>>): NamedOperation[] =>
  Object.entries(named as Record<string, OwnOperation>).map(([name, one]) => ({
    ...one,
    name,
    access: [one.access ?? []].flat(),
  }))

/** Hooks in the order of their files. */
export const hooksNamed = (named: Readonly<Record<string, unknown>>): NamedHook[] =>
  Object.entries(named as Record<string, OwnHook>).map(([name, hook]) => ({ ...hook, name }) as unknown as NamedHook)
