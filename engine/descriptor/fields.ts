/** The three kinds of field, and the options that ride on a field's line in a descriptor. */

export type Kind = 'integer' | 'number' | 'text'

/** What a field of a kind holds, in JavaScript and in JSON. */
export type ValueOf<K extends Kind> = K extends 'text' ? string : number

interface CommonOptions<V> {
  /** One sentence for whoever reads the documents. */
  about?: string
  /** A value worth showing in the documents; the demo data's first row serves where there is none. */
  example?: V
  /** Taken where the body has nothing for the field (or null for a required one). */
  default?: V | (() => V)
  /** Never taken from a client: `true` leaves the field null, a function gives its value when the row is made. */
  managed?: true | (() => V)
  /** In the shape, but always null to a reader: never selected, searched or filtered. */
  redacted?: true
}

interface KeyOptions<V> extends CommonOptions<V> {
  /** Lists take this field as an equality filter. */
  filter?: true
  /** No two rows share the value: `true` over all of them, names of fields within equal values of those. */
  unique?: true | readonly string[]
}

/** How clients write the values of a text field. The documents state it; any string is accepted. */
export type TextFormat = 'date' | 'timestamp'

export interface OptionsOf {
  text: KeyOptions<string> & {
    /** Implied where the default or the managed value is `today` or `now`. */
    format?: TextFormat
  }
  integer: KeyOptions<number> & {
    /** The path of the resource whose row this value must name. */
    references?: string
  }
  number: CommonOptions<number>
}

/** Every option a kind of field takes; the verifier tells a misspelt one from these. */
export const optionNames: Record<Kind, readonly string[]> = {
  text: ['about', 'example', 'default', 'managed', 'redacted', 'filter', 'unique', 'format'],
  integer: ['about', 'example', 'default', 'managed', 'redacted', 'filter', 'unique', 'references'],
  number: ['about', 'example', 'default', 'managed', 'redacted'],
}

/** One field as a descriptor writes it. */
export interface FieldSpec<K extends Kind = Kind, O = OptionsOf[K]> {
  readonly kind: K
  readonly options: O
}

/** Generic parameters escape TypeScript's check for unknown properties, so a misspelt option is made a `never`. */
type Exactly<O, Allowed> = O & Record<Exclude<keyof O, keyof Allowed>, never>

/** A whole number between −(2^53−1) and 2^53−1. */
export const integer = <const O extends OptionsOf['integer'] = Record<never, never>>(
  options?: Exactly<O, OptionsOf['integer']>,
): FieldSpec<'integer', O> => ({ kind: 'integer', options: options ?? ({} as O) })

/** A finite number. */
export const number = <const O extends OptionsOf['number'] = Record<never, never>>(
  options?: Exactly<O, OptionsOf['number']>,
): FieldSpec<'number', O> => ({ kind: 'number', options: options ?? ({} as O) })

/** A string, kept to the last code point. */
export const text = <const O extends OptionsOf['text'] = Record<never, never>>(
  options?: Exactly<O, OptionsOf['text']>,
): FieldSpec<'text', O> => ({ kind: 'text', options: options ?? ({} as O) })
