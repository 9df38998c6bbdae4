/** A hook: code that runs in the transaction of every write of a resource. */
import type { Descriptor, StoredRow } from './define.js'
import type { CodeContext } from './operation.js'

export const hookOperations = ['create', 'update', 'delete'] as const
export type HookOperation = (typeof hookOperations)[number]

/** What has happened to a row: the row as it is now and as it was, if there is one. */
type HookEvent<R> =
  | { readonly operation: 'create'; readonly row: R; readonly previous: null }
  | { readonly operation: 'update'; readonly row: R; readonly previous: R }
  | { readonly operation: 'delete'; readonly row: null; readonly previous: R }

export interface OwnHook<D = Descriptor, On extends HookOperation = HookOperation> {
  readonly resource: D
  readonly on: readonly On[]
  handle(context: CodeContext & Extract<HookEvent<StoredRow<D>>, { operation: On }>): Promise<void> | void
}

/** Declares a hook; the hooks of a resource run in the order of their files. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of a descriptor are inferred from it
export const defineHook = <D extends { readonly table: string; readonly fields: any }, const On extends HookOperation>(
  hook: OwnHook<D, On>,
): OwnHook<D, On> => hook
