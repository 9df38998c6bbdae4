/** The three kinds of field and their options. */

/** The options of a field with values of type V. */
export interface Options<V> {
  /** A one-sentence description for the API documents. */
  about?: string
  /** An example value for the API documents; by default the value in the first demo row. */
  example?: V
  /** The value if the body omits the field, or sends null for a required one. */
  default?: V | (() => V)
  /** Clients cannot set the field: `true` leaves it null, a function returns its value when a row is created. */
  managed?: true | (() => V)
  /** Clients always see null; the column is never selected, searched or filtered. */
  redacted?: true
  /** Lists accept this field as an equality filter. */
  filter?: true
  /** No two rows have the same value: in the whole table (`true`), or among rows with equal values in the named fields. */
  unique?: true | readonly string[]
  /** The documented format; any string is accepted. Implied if the default or the managed value is `today` or `now`. */
  format?: TextFormat
  /** The former name of the field, whose column `npm run migrate` renames. */
  renamedFrom?: string
  /** The path of the resource that the value references by `id`. */
  references?: string
}

export type TextFormat = 'date' | 'timestamp'

/** What the verification accepts as a value. */
export interface Shape {
  readonly isValid: (value: unknown) => boolean
  /** Completes the sentence "it must be …". */
  readonly expected: string
}

const commonOptions = ['about', 'example', 'default', 'managed', 'redacted', 'renamedFrom'] as const

/** The values of each kind, in descriptors and demo rows, and its options. */
export const kinds = {
  text: {
    isValid: (value: unknown) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
    expected: 'a string without NUL and lone surrogates',
    options: [...commonOptions, 'filter', 'unique', 'format'],
  },
  integer: {
    isValid: Number.isSafeInteger,
    expected: 'an integer between -9007199254740991 and 9007199254740991',
    options: [...commonOptions, 'filter', 'unique', 'references'],
  },
  number: {
    isValid: Number.isFinite,
    expected: 'a finite number',
    options: commonOptions,
  },
} as const satisfies Record<string, Shape & { options: readonly (keyof Options<never>)[] }>

export type Kind = keyof typeof kinds

/** The type of a field's values, in JavaScript and in JSON. */
export type ValueOf<K extends Kind> = K extends 'text' ? string : number

export type OptionsOf = { [K in Kind]: Pick<Options<ValueOf<K>>, (typeof kinds)[K]['options'][number]> }

/** One field as a descriptor writes it. */
export interface FieldSpec<K extends Kind = Kind, O = OptionsOf[K]> {
  readonly kind: K
  readonly options: O
}

/** The options of a kind. Only these two are inferred: TypeScript does not name unknown properties of an inferred type. */
type GivenOptions<K extends Kind, D, M> = Omit<OptionsOf[K], 'default' | 'managed'> & { default?: D; managed?: M }

/** The inferred options, which decide what a create body may have; NoInfer, because `defineResource` gives a context. */
type InferredOptions<D, M> = ([D] extends [undefined] ? object : { default: NoInfer<D> }) &
  ([M] extends [undefined] ? object : { managed: NoInfer<M> })

const fieldOf =
  <K extends Kind>(kind: K) =>
  <
    const D extends OptionsOf[K]['default'] | undefined = undefined,
    const M extends OptionsOf[K]['managed'] | undefined = undefined,
  >(
    options?: GivenOptions<K, D, M>,
  ): FieldSpec<K, InferredOptions<D, M>> => ({
    kind,
    options: (options ?? {}) as InferredOptions<D, M>,
  })

/** An integer between −(2^53−1) and 2^53−1. */
export const integer = fieldOf('integer')

/** A finite number. */
export const number = fieldOf('number')

/** A string, stored exactly as sent. */
export const text = fieldOf('text')
