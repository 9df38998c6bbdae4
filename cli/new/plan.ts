/** The data of a new resource, from which its files are written. */

import type { IdKind, Kind, KindOptions } from '../../engine/descriptor/kinds/index.js'
import type { Options } from '../../engine/descriptor/options.js'
import type { GivenValue } from '../../engine/descriptor/registry.js'

/** A field with its options. */
export interface NewField extends Readonly<Omit<Options<GivenValue>, keyof KindOptions>>, KindOptions {
  readonly name: string
  readonly kind: Kind
  readonly isRequired: boolean
}

export interface NewResource {
  readonly path: string
  readonly name: string
  /** Only if it is not derived correctly from the name. */
  readonly plural: string | undefined
  readonly area: string
  readonly about: string | undefined
  readonly table: string
  /** Whether it is a table of another program, and the column and kind of its id. */
  readonly existing?: { readonly idColumn: string; readonly id: IdKind }
  readonly fields: readonly NewField[]
  readonly create: boolean
  readonly update?: boolean
  readonly delete?: boolean
}
