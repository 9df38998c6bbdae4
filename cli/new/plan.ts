/** The data of a new resource, from which its files are written. */
import type { Kind } from '../../engine/descriptor/kinds.js'
import type { Value } from '../../engine/descriptor/registry.js'

/** A function of the clock, which a descriptor names without quotes. */
export type Clock = 'today' | 'now'

export interface NewField {
  readonly name: string
  /** The column of an existing table, if it has another name. */
  readonly column?: string
  readonly kind: Kind
  readonly isRequired: boolean
  readonly references?: string
  readonly default?: Value | { readonly clock: Clock }
  readonly managed?: Clock | true
  readonly oneOf?: readonly (string | number)[]
  readonly maxLength?: number
  readonly isFilter: boolean
  readonly isSorted?: boolean
  readonly isRange?: boolean
  readonly isUnique: boolean
  /** The fields within whose values it is unique. */
  readonly uniqueWith?: readonly string[]
  readonly isRedacted: boolean
}

export interface NewResource {
  readonly path: string
  readonly name: string
  /** Only if it is not derived correctly from the name. */
  readonly plural: string | undefined
  readonly area: string
  readonly about: string | undefined
  readonly table: string
  /** Whether it is a table of another program, and the column of its id. */
  readonly existing?: { readonly idColumn: string }
  readonly fields: readonly NewField[]
  readonly create: boolean
  readonly update?: boolean
  readonly delete?: boolean
}
