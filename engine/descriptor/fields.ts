/** The functions with which a descriptor declares its fields, and the options that they take. */
import type { z } from 'zod'
import { type Kind, type KindOptions, kinds } from './kinds/index.js'
import type { RuleOptions } from './valueRules.js'

/** The options of a field with values of type V. */
export interface Options<V> extends RuleOptions<V>, KindOptions {
  /** A one-sentence description for the API documents. */
  about?: string
  /** The name for people, in the explorer; by default derived from the name of the field. */
  label?: string
  /** The colours of values in the explorer: `{ Approved: 'good' }`. */
  tones?: Readonly<Record<string, Tone>>
  /** An example value for the API documents; by default the value in the first demo row. */
  example?: V
  /** The value if the body omits the field, or sends null for a required one. */
  default?: V | (() => V)
  /** Clients cannot set the field: `true` leaves it null, a function returns its value when a row is created. */
  managed?: true | (() => V)
  /** Returns the value that a managed field gets at every real change of its row. */
  onUpdate?: () => V
  /** Clients always see null; the column is never selected, searched or filtered. */
  redacted?: true
  /** The roles that see the field; it is null for everybody else, and never searched. */
  readBy?: readonly string[]
  /** Lists accept this field as a filter: `status=a`, `status.in=a&status.in=b` and `status.null=true`. */
  filter?: true
  /** Lists accept bounds of this field: `days.gte=2`, `.gt`, `.lte` and `.lt`. A text needs a format. */
  range?: true
  /** Lists can be ordered by this field: `sort=days` and `sort=-days`. */
  sort?: true
  /** No two rows have the same value: in the whole table (`true`), or among rows with equal values in the named fields. */
  unique?: true | readonly string[]
  /** The documented format; any string is accepted. Implied if the default or the managed value is `today` or `now`. */
  format?: TextFormat
  /** The column of an existing table, if it has another name than the field. */
  column?: string
  /** The former name of the field, whose column `npm run migrate` renames. */
  renamedFrom?: string
  /** What an update may change each value of `oneOf` to: `{ Pending: ['Approved', 'Rejected'] }`. A value that is not named stays. */
  next?: Readonly<Record<string, readonly V[]>>
  /** The path of the resource that the value references by `id`. */
  references?: string
  /** What a delete of the referenced row does: refuse it (`restrict`, the default), set the field to null, or delete this row too. */
  onDelete?: OnDelete
}

export type OptionName = keyof Options<never>

export const onDeletes = ['restrict', 'set null', 'cascade'] as const
export type OnDelete = (typeof onDeletes)[number]

export type TextFormat = 'date' | 'timestamp'

export const tones = ['good', 'bad', 'warning', 'info', 'muted'] as const
export type Tone = (typeof tones)[number]

const commonOptions = [
  'about',
  'label',
  'example',
  'default',
  'managed',
  'onUpdate',
  'redacted',
  'readBy',
  'column',
  'renamedFrom',
] as const

export const optionNames = (kind: Kind): readonly OptionName[] => [...commonOptions, ...kinds[kind].options]

/** The type of a field's values, in JavaScript and in JSON. */
export type ValueOf<K extends Kind> = z.infer<ReturnType<(typeof kinds)[K]['row']>>

export type OptionsOf = {
  [K in Kind]: Pick<Options<ValueOf<K>>, (typeof commonOptions)[number] | (typeof kinds)[K]['options'][number]>
}

export interface FieldSpec<K extends Kind = Kind, O = OptionsOf[K]> {
  readonly kind: K
  readonly options: O
}

/** The options of a kind. Only these are inferred: TypeScript does not name unknown properties of an inferred type. */
type GivenOptions<K extends Kind, V, D, M> = Omit<
  OptionsOf[K],
  'default' | 'managed' | 'oneOf' | 'next' | 'digits' | 'places'
> & {
  default?: D
  managed?: M
} & ('digits' extends keyof OptionsOf[K] ? { digits: number; places: number } : object) &
  ('oneOf' extends keyof OptionsOf[K]
    ? {
        oneOf?: readonly V[]
        next?: { readonly [From in `${NoInfer<V> & (string | number)}`]?: readonly NoInfer<V>[] }
      }
    : object)

/** The inferred options, which decide what a row and a create body may have; NoInfer, because `defineResource` gives a context. */
type InferredOptions<K extends Kind, V, D, M> = ([D] extends [undefined] ? object : { default: NoInfer<D> }) &
  ([M] extends [undefined] ? object : { managed: NoInfer<M> }) &
  ([ValueOf<K>] extends [V] ? object : { oneOf: readonly NoInfer<V>[] })

const fieldFunction =
  <K extends Kind>(kind: K) =>
  <
    const V extends ValueOf<K> = ValueOf<K>,
    const D extends NoInfer<V> | (() => ValueOf<K>) | undefined = undefined,
    const M extends true | (() => ValueOf<K>) | undefined = undefined,
  >(
    options?: GivenOptions<K, V, D, M>,
  ): FieldSpec<K, InferredOptions<K, V, D, M>> => ({
    kind,
    options: (options ?? {}) as InferredOptions<K, V, D, M>,
  })

/** An integer between −(2^53−1) and 2^53−1. */
export const integer = fieldFunction('integer')

/** A finite number. */
export const number = fieldFunction('number')

/** A string, stored exactly as sent. */
export const text = fieldFunction('text')

/** `true` or `false`. */
export const boolean = fieldFunction('boolean')

/** A day, `"2026-03-01"`. */
export const date = fieldFunction('date')

/** A time of RFC 3339, returned in UTC with milliseconds: `"2026-03-01T09:30:00.000Z"`. */
export const timestamp = fieldFunction('timestamp')

/** A UUID, `"0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d"`. */
export const uuid = fieldFunction('uuid')

/** An exact decimal, `"12.50"`: a string of at most `digits` digits, `places` of them after the point. */
export const decimal = fieldFunction('decimal')

/** Any JSON value of at most 64 KiB, returned as it was sent. */
export const json = fieldFunction('json')
