/** The rows of one resource, as the code of a project reads and writes them. */
import type { AnyUpdate, Conditions, CreateBody, ListParameters, StoredRow, UpdateBody } from './define.js'

/** A resource file's default export. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of a descriptor are inferred from it
type AnyDescriptor = { readonly table: string; readonly fields: any }

export type GivenId = string | number

export interface Page<R> {
  readonly data: readonly R[]
  readonly meta: { readonly total: number; readonly limit: number; readonly offset: number }
}

/** A row of a list, with the rows that `expand` names. */
type Listed<R> = R & { readonly expanded?: Readonly<Record<string, Readonly<Record<string, unknown>> | null>> }

export interface Handle<R, C, U, L, W> {
  /** The row with an id; null if there is none that may be read. */
  get(id: GivenId): Promise<R | null>
  /** A page of rows. */
  list(query?: L): Promise<Page<Listed<R>>>
  /** How many rows there are. */
  count(query?: W): Promise<number>
  create(values: C): Promise<R>
  /** Changes some fields; with `ifMatch` only while the row has this tag, or one of these. */
  update(id: GivenId, values: U, options?: { readonly ifMatch?: string | readonly string[] | undefined }): Promise<R>
  delete(id: GivenId): Promise<void>
  /** The tag of a row that was read or written here. */
  tag(row: R): string
}

/** With the rights of the caller. */
export type Of = <D extends AnyDescriptor>(
  descriptor: D,
) => Handle<StoredRow<D>, CreateBody<D>, UpdateBody<D>, ListParameters<D>, Conditions<D>>

/** With all rights. */
export type ServiceOf = <D extends AnyDescriptor>(
  descriptor: D,
) => Handle<StoredRow<D>, CreateBody<D>, AnyUpdate<D>, ListParameters<D>, Conditions<D>>
