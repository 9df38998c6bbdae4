/** The three kinds of field and their options. */

export type Kind = 'integer' | 'number' | 'text'

/** The type of a field's values, in JavaScript and in JSON. */
export type ValueOf<K extends Kind> = K extends 'text' ? string : number

interface CommonOptions<V> {
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
}

interface KeyOptions<V> extends CommonOptions<V> {
  /** Lists accept this field as an equality filter. */
  filter?: true
  /** No two rows have the same value: in the whole table (`true`), or among rows with equal values in the named fields. */
  unique?: true | readonly string[]
}

/** The documented format of a text field; any string is accepted. */
export type TextFormat = 'date' | 'timestamp'

export interface OptionsOf {
  text: KeyOptions<string> & {
    /** Implied if the default or the managed value is `today` or `now`. */
    format?: TextFormat
  }
  integer: KeyOptions<number> & {
    /** The path of the resource that the value references by `id`. */
    references?: string
  }
  number: CommonOptions<number>
}

/** The options of all kinds together. */
export interface AnyOptions extends KeyOptions<string | number> {
  format?: TextFormat
  references?: string
}

/** What the verification accepts as a value. */
export interface Shape {
  readonly isValid: (value: unknown) => boolean
  /** Completes the sentence "it must be …". */
  readonly expected: string
}

/** The values of each kind, in descriptors and demo rows. */
export const kinds: Readonly<Record<Kind, Shape>> = {
  text: {
    isValid: (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
    expected: 'a string without NUL and lone surrogates',
  },
  integer: {
    isValid: Number.isSafeInteger,
    expected: 'an integer between -9007199254740991 and 9007199254740991',
  },
  number: { isValid: Number.isFinite, expected: 'a finite number' },
}

/** One field as a descriptor writes it. */
export interface FieldSpec<K extends Kind = Kind, O = OptionsOf[K]> {
  readonly kind: K
  readonly options: O
}

/** TypeScript does not check generic parameters for unknown properties, so unknown options get the type `never`. */
type Exactly<O, Allowed> = O & Record<Exclude<keyof O, keyof Allowed>, never>

const fieldOf =
  <K extends Kind>(kind: K) =>
  <const O extends OptionsOf[K] = Record<never, never>>(options?: Exactly<O, OptionsOf[K]>): FieldSpec<K, O> => ({
    kind,
    options: options ?? ({} as O),
  })

/** An integer between −(2^53−1) and 2^53−1. */
export const integer = fieldOf('integer')

/** A finite number. */
export const number = fieldOf('number')

/** A string, stored exactly as sent. */
export const text = fieldOf('text')
