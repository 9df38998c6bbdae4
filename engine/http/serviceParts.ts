/** What a service consists of, which every handler gets. */
import type { Middleware } from 'koa'
import type { Operation } from '../contract/operations.js'
import type { Product } from '../contract/service.js'
import type { NamedHook } from '../descriptor/hookFiles.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import type { Registry } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import type { CallerSources, Callers } from './callers.js'
import type { AppContext } from './requestLog.js'
import type { WaitingChanges } from './waitingChanges.js'

export type Handler = (ctx: AppContext) => Promise<void> | void

export type AddRoute = (name: string, path: string, handler: Handler, method?: Operation['route']['method']) => void

/** What a service consists of. */
export interface ServiceParts extends CallerSources {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  /** The operations of the deployment's own code. */
  readonly operations?: readonly NamedOperation[] | undefined
  readonly hooks?: readonly NamedHook[] | undefined
  /** Seals the sessions of the explorer; by default a random one. */
  readonly sessionSecret?: string | undefined
  /** The most downloads and large pages that one process sends at the same time. */
  readonly maxDownloads?: number | undefined
  /** Whether to serve the explorer; without it, `/` redirects to the docs page. */
  readonly explorer?: boolean
  /** Whether the process is stopping: it finishes its requests and should get no new ones. */
  readonly isStopping?: () => boolean
  /** Koa middleware of the deployment; it runs around every operation. */
  readonly middleware?: readonly Middleware[]
}

export interface Service extends ServiceParts {
  readonly callers: Callers
  readonly waiting: WaitingChanges
}
