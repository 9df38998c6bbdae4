/** The Koa app: the middleware around every request, in order, and the routes. */
import type { RequestListener } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import { deriveOperations } from '../contract/operations.js'
import { callerReader } from './callers.js'
import { errorEnvelope, outageLog, setCommonHeaders } from './envelope.js'
import { type InFlight, logRequests, type OnRequest, requestLogger, type State } from './requestLog.js'
import { createRoutes } from './router.js'
import type { ServiceParts } from './serviceParts.js'
import { waitingChanges } from './waitingChanges.js'

export interface App {
  readonly koa: Koa<State>
  readonly handle: RequestListener
  /** Logs and counts a request that the server refused before it reached the app. */
  readonly logRequest: OnRequest
  /** Answers the clients that wait for changes: the process stops. */
  stopWaiting(): void
}

/** Errors of a response whose client has disconnected, for example to stop a download. */
const clientLeft = /^(?:EPIPE|ECONNRESET|ERR_STREAM_PREMATURE_CLOSE)$/

export const createApp = (
  parts: ServiceParts,
  logger: Logger,
  onRequest?: OnRequest,
  inFlight: InFlight = { count: 0, waiting: 0 },
): App => {
  const waiting = waitingChanges(parts, inFlight)
  const service = { ...parts, callers: callerReader(parts), waiting }
  const logRequest = requestLogger(logger, onRequest)
  const app = new Koa<State>()
  app.on('error', (error: Error & { code?: string }) => {
    if (!clientLeft.test(error.code ?? '')) logger.error({ err: error }, 'a response failed')
  })
  app.use(logRequests(logRequest, inFlight, logger.isLevelEnabled('debug')))
  const outages = outageLog(logger)
  app.use(errorEnvelope(logger, outages))
  app.use(setCommonHeaders)
  if (service.middleware?.length) {
    for (const middleware of service.middleware) app.use(middleware)
    // A second time inside, so that this middleware sees the status of a failed request instead of an exception.
    app.use(errorEnvelope(logger, outages))
  }
  app.use(createRoutes(service, deriveOperations(service.registry, service.product, service.operations)))
  return { koa: app, handle: app.callback(), logRequest, stopWaiting: waiting.close }
}
