/** The functions with which a descriptor declares its fields. */
import type { z } from 'zod'
import type { Kind, kinds } from './kinds/index.js'
import type { OptionOf, Options } from './options.js'

/** The type of a field's values, in JavaScript and in JSON. */
export type ValueOf<K extends Kind> = z.infer<ReturnType<(typeof kinds)[K]['row']>>

export type OptionsOf = {
  [K in Kind]: Pick<Options<ValueOf<K>>, OptionOf<K>>
}

export interface FieldSpec<K extends Kind = Kind, O = OptionsOf[K]> {
  readonly kind: K
  readonly options: O
}

/** The options that give a list parameters. */
type ListOption = 'filter' | 'range' | 'sort'

/** An option that not every kind has. */
type ListOptionOf<K extends Kind, Name extends ListOption, T> = {
  [Key in Name]?: Key extends keyof OptionsOf[K] ? T : never
}

/** The options of a kind. Only these are inferred: TypeScript does not name unknown properties of an inferred type. */
type GivenOptions<K extends Kind, V, D, M, F, R, S, B> = Omit<
  OptionsOf[K],
  'default' | 'managed' | 'oneOf' | 'next' | 'start' | 'digits' | 'places' | ListOption
> & {
  default?: D
  managed?: M
} & ListOptionOf<K, 'filter', F> &
  ListOptionOf<K, 'range', R> &
  ListOptionOf<K, 'sort', S> &
  ('digits' extends keyof OptionsOf[K] ? { digits: number; places: number } : object) &
  ('oneOf' extends keyof OptionsOf[K]
    ? {
        oneOf?: readonly V[]
        next?: { readonly [From in `${NoInfer<V> & (string | number)}`]?: readonly NoInfer<V>[] }
        start?: readonly B[]
      }
    : object)

/** The inferred options, which decide what a row and a create body may have; NoInfer, because `defineResource` gives a context. */
type InferredOptions<K extends Kind, V, D, M, F, R, S, B> = ([D] extends [undefined]
  ? object
  : { default: NoInfer<D> }) &
  ([M] extends [undefined] ? object : { managed: NoInfer<M> }) &
  ([ValueOf<K>] extends [V] ? object : { oneOf: readonly NoInfer<V>[] }) &
  ([V] extends [B] ? object : { start: readonly NoInfer<B>[] }) &
  ([F] extends [true] ? { filter: true } : object) &
  ([R] extends [true] ? { range: true } : object) &
  ([S] extends [true] ? { sort: true } : object)

const fieldFunction =
  <K extends Kind>(kind: K) =>
  <
    const V extends ValueOf<K> = ValueOf<K>,
    const D extends NoInfer<V> | (() => ValueOf<K>) | undefined = undefined,
    const M extends true | (() => ValueOf<K>) | undefined = undefined,
    const F extends true | undefined = undefined,
    const R extends true | undefined = undefined,
    const S extends true | undefined = undefined,
    const B extends V = V,
  >(
    options?: GivenOptions<K, V, D, M, F, R, S, B>,
  ): FieldSpec<K, InferredOptions<K, V, D, M, F, R, S, B>> => ({
    kind,
    options: (options ?? {}) as InferredOptions<K, V, D, M, F, R, S, B>,
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
