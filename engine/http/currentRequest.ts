/** The id of the request that is being handled, for the debug log of what runs below the handlers. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Entered only if the debug log is on: it costs every request some microseconds. */
export const currentRequest = new AsyncLocalStorage<string>()
