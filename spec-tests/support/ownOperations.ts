/** Custom operations that tests declare, as they are loaded from files. */
import type { OwnOperation } from '../../engine/descriptor/operation.js'
import type { NamedOperation } from '../../engine/descriptor/operationFiles.js'

export const operationsNamed = (named: Readonly<Record<string, unknown>>): NamedOperation[] =>
  Object.entries(named as Record<string, OwnOperation>).map(([name, one]) => ({
    ...one,
    name,
    access: [one.access ?? []].flat(),
  }))
