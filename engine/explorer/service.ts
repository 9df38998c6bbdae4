/** The dependencies of the explorer, and the requests for its pages. */
import type { Operation } from '../contract/operation.js'
import type { Product } from '../contract/service.js'
import type { Registry } from '../descriptor/registry.js'
import type { Caller, Storage } from '../storage/storage.js'

export interface ExplorerService {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  readonly operations: readonly Operation[]
  /** Whether clients with the token may create rows. */
  readonly writes: boolean
}

/** What a page is asked for. */
export interface PageRequest {
  /** The last segment of the path, as it was sent. */
  readonly segment: string
  readonly querystring: string
  /** The address of the service as the client sees it, for the requests that pages show. */
  readonly origin: string
  /** Whether the client has gone, as it does with every key that is typed. */
  readonly caller: Caller
}
