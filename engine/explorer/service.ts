/** The dependencies of the explorer. */
import type { Operation } from '../contract/operation.js'
import type { Product } from '../contract/service.js'
import type { Registry } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'

export interface ExplorerService {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  readonly operations: readonly Operation[]
  /** Whether clients with the token may create rows. */
  readonly writes: boolean
}
