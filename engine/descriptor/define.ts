/** The descriptor that a resource file exports, and the row and create-body types inferred from it. */
import type { FieldSpec, OptionsOf, ValueOf } from './fields.js'
import type { IdKind, Kind } from './kinds/index.js'

/** Not by identity: a project may have two copies of this module. */
const brand = Symbol.for('resource-registry-engine.claim')

/** Stands for what the key or token of a caller says about it. */
export interface Claim {
  readonly name: string
}

/** The value of a claim, for row rules: `{ employee_id: claim('employee_id') }`. */
export const claim = (name: string): Claim => ({ [brand]: true, name }) as Claim

export const isClaim = (value: unknown): value is Claim => typeof value === 'object' && value !== null && brand in value

/**
 * A role, `'public'`, `'signed-in'`, or the rows whose fields have the values of these claims; also those whose references lead to such
 * a row: `{ 'loan_id.institution_id': claim('institution_id') }`.
 */
export type AccessRule<F extends string = string> = string | { readonly [Name in F | `${F}.${string}`]?: Claim }

/** Who may use each operation; one that is not named is for the write token alone. */
export interface Access<F extends string = string> {
  readonly read: AccessRule<F> | readonly AccessRule<F>[]
  readonly create?: AccessRule<F> | readonly AccessRule<F>[]
  readonly update?: AccessRule<F> | readonly AccessRule<F>[]
  readonly delete?: AccessRule<F> | readonly AccessRule<F>[]
}

/** The most other rows that a delete may remove or change: one request must not hold up all others. */
export const maxOtherRows = 10_000

export const accessNames = ['read', 'create', 'update', 'delete'] as const
export type AccessName = (typeof accessNames)[number]

export const rulesOf = (rules: Access[AccessName]): readonly AccessRule[] =>
  rules === undefined ? [] : Array.isArray(rules) ? rules : [rules as AccessRule]

export type Fields = Readonly<Record<string, FieldSpec<Kind, OptionsOf[Kind]>>>

/** A value as rules get it: never null, and a decimal as a number of its smallest units. */
type RuleValue<S extends FieldSpec<Kind, unknown>> = S['kind'] extends 'decimal' ? bigint : ValueOf<S['kind']>

/** What must hold between the values of a row. */
export interface Rule<F extends Fields = Fields> {
  /** The fields that it compares; it is evaluated when each of them has a value. An issue names the last one. */
  readonly fields: readonly Extract<keyof F, string>[]
  holds(row: { readonly [Name in keyof F]: RuleValue<F[Name]> }): boolean
  /** What is wrong with a row for which it does not hold: `to_date must not be before from_date`. */
  readonly message: string
}

/** A resource as plain data. */
export interface Descriptor<
  F extends Fields = Fields,
  R extends string = string,
  U extends string = string,
  I extends IdKind = IdKind,
> {
  /** The singular name for people: `Leave request`. Schemas and operations are named after it. */
  readonly name: string
  /** The plural name; by default the name with s, es or ies. */
  readonly plural?: string
  /** The group in the documents. */
  readonly area: string
  /** One sentence for the documents. */
  readonly about?: string
  /** The fields that the explorer shows as the name of a row, such as `['first_name', 'last_name']`; by default those that usually name one. */
  readonly label?: readonly string[]
  /** The database table; its name must not begin with `sqlite_`, `pg_` or `registry_`. */
  readonly table: string
  /** `true`: the table, or view, belongs to another program. It is served as it is, and nothing is created or changed in it. */
  readonly existing?: boolean
  /** The column of an existing table that has the `id`, if it has another name. */
  readonly idColumn?: string
  /** `'integer'` (the default) or `'uuid'`, which the service assigns, or `'text'`, which clients choose, such as a country code. */
  readonly id?: I
  /** The former name of the table, which `npm run migrate` renames. */
  readonly renamedFromTable?: string
  /** Every field except `id`, in the order clients see them. */
  readonly fields: F
  /** The names of the fields that are never null. */
  readonly required: readonly R[]
  /** What must hold between the fields of a row that clients create or change. */
  readonly rules?: readonly Rule<NoInfer<F>>[]
  /** Whether clients with the write token may create rows. */
  readonly create: boolean
  /** `true`: clients with the write token may change every field that a create may set; `['status']`: only these. */
  readonly update?: boolean | readonly U[]
  /** `true`: clients with the write token may delete rows. */
  readonly delete?: boolean
  /** Beside `create`; `true`: clients with the write token may create, or change, many rows at once. */
  readonly import?: boolean
  /** `true`: clients may request counts, sums and averages of groups of rows. No field can be called `by`, `sum`, `avg`, `min` or `max` then. */
  readonly summary?: boolean
  /** `true`: clients may follow the changes of the rows, whoever makes them. */
  readonly changes?: boolean
  /** `true`, or `{ days: 30 }`: who has changed each row, and what, is kept for 365 days, or so many, and can be restored. */
  readonly history?: boolean | { readonly days: number }
  /** Who may read, create, change and delete rows, and which; without it everybody reads, and the write token does the rest. */
  readonly access?: Access<'id' | Extract<keyof NoInfer<F>, string>>
}

/** Declares a resource; the file name becomes its path. */
export const defineResource = <
  const F extends Fields,
  const R extends keyof F & string,
  const U extends keyof F & string = never,
  const I extends IdKind = 'integer',
>(
  descriptor: Descriptor<F, R, U, I> & { readonly label?: readonly (keyof F & string)[] },
): Descriptor<F, R, U, I> => descriptor

type FieldsOf<D> = D extends Descriptor<infer F, infer _R, infer _U, infer _I> ? F : never
type RequiredOf<D> = D extends Descriptor<infer _F, infer R, infer _U, infer _I> ? R : never
type UpdatableOf<D> = D extends Descriptor<infer _F, infer _R, infer U, infer _I> ? U : never
type IdOf<D> = D extends Descriptor<infer _F, infer _R, infer _U, infer I> ? I : never
type ValueIn<F extends Fields, Name extends keyof F> = F[Name]['options'] extends { oneOf: readonly (infer V)[] }
  ? V
  : ValueOf<F[Name]['kind']>
/** What a create may send: the values with which the steps begin, where `start` says them. */
type NewValueIn<F extends Fields, Name extends keyof F> = F[Name]['options'] extends { start: readonly (infer V)[] }
  ? V
  : ValueIn<F, Name>
type NamesWith<F extends Fields, Option extends string> = {
  [Name in keyof F]: F[Name]['options'] extends Record<Option, unknown> ? Name : never
}[keyof F]
/** Its members by name: editors show these instead of how the type is made. */
type Flat<T> = T extends infer O ? { [Key in keyof O]: O[Key] } : never

/** A row as clients receive it: every field present, null unless required. */
export type Row<D> = Flat<
  { id: IdOf<D> extends 'integer' ? number | null : string } & {
    -readonly [Name in keyof FieldsOf<D>]: Name extends RequiredOf<D>
      ? ValueIn<FieldsOf<D>, Name>
      : ValueIn<FieldsOf<D>, Name> | null
  }
>

/** A row with rows that its references name: `ExpandedRow<typeof books, { author_id: typeof authors }>`. */
export type ExpandedRow<D, E extends { readonly [Name in keyof E]: Descriptor }> = Row<D> & {
  expanded?: { [Name in keyof E & keyof FieldsOf<D>]?: Row<E[Name]> | null }
}

type Writable<D> = Exclude<keyof FieldsOf<D>, NamesWith<FieldsOf<D>, 'managed'>>
type Mandatory<D> = Exclude<Extract<Writable<D>, RequiredOf<D>>, NamesWith<FieldsOf<D>, 'default'>>

/** The body of a create. A field is mandatory if it is required and has no default. */
export type CreateBody<D> = Flat<
  (IdOf<D> extends 'text' ? { id: string } : object) & { [Name in Mandatory<D>]: NewValueIn<FieldsOf<D>, Name> } & {
    [Name in Exclude<Writable<D>, Mandatory<D>>]?: NewValueIn<FieldsOf<D>, Name> | null
  }
>

/** The body of an update: the fields that may change, each as it should be. */
export type UpdateBody<D> = Flat<{
  [Name in [UpdatableOf<D>] extends [never] ? Writable<D> : Extract<UpdatableOf<D>, keyof FieldsOf<D>>]?:
    | ValueIn<FieldsOf<D>, Name>
    | (Name extends RequiredOf<D> ? never : null)
}>

/** A row that is stored, so that it has an id. */
export type StoredRow<D> = Flat<{ id: IdOf<D> extends 'integer' ? number : string } & Omit<Row<D>, 'id'>>

/** The body of an update by code with all rights: every field that is not set by the service. */
export type AnyUpdate<D> = Flat<{
  [Name in Writable<D>]?: ValueIn<FieldsOf<D>, Name> | (Name extends RequiredOf<D> ? never : null)
}>

type Filtered<D> = NamesWith<FieldsOf<D>, 'filter'> & string
type Ranged<D> = NamesWith<FieldsOf<D>, 'range'> & string
type Sorted<D> = NamesWith<FieldsOf<D>, 'sort'> & string
type FieldIn<D, Name extends string> = ValueIn<FieldsOf<D>, Name & keyof FieldsOf<D>>
type WithOperator<Parameter, Operator extends string> = Parameter extends `${infer Name}.${Operator}` ? Name : never

/** The conditions that a list of the resource takes, combined with AND. */
export type Conditions<D> = Flat<
  {
    readonly [Name in Filtered<D>]?: FieldIn<D, Name>
  } & {
    readonly [Name in `${Filtered<D>}.in`]?: readonly FieldIn<D, WithOperator<Name, 'in'>>[]
  } & {
    readonly [Name in `${Filtered<D>}.null`]?: boolean
  } & {
    readonly [Name in `${Ranged<D>}.${'gte' | 'gt' | 'lte' | 'lt'}`]?: FieldIn<
      D,
      WithOperator<Name, 'gte' | 'gt' | 'lte' | 'lt'>
    >
  } & {
    /** A text to search for. */
    readonly q?: string
  }
>

/** The parameters of a list of the resource. */
export type ListParameters<D> = Flat<
  Conditions<D> & {
    readonly sort?: `${'' | '-'}${'id' | Sorted<D>}`
    /** At most 200; by default 50. */
    readonly limit?: number
    readonly offset?: number
    /** References whose rows are shown with each row. */
    readonly expand?: readonly (keyof FieldsOf<D> & string)[]
  }
>
