/** The liveness and readiness probes. */
import { stopping, tableChanged, unavailable } from '../contract/errors.js'
import type { Handler, Service } from './handlers.js'

/** Does not check the database: a restart would not repair it. */
const live: Handler = (ctx) => {
  ctx.set('Cache-Control', 'no-store')
  ctx.body = { status: 'ok' }
}

/** 503 if the database does not respond, if a table no longer fits its descriptor, or while the process stops. */
const ready =
  ({ storage, isStopping }: Service): Handler =>
  async (ctx) => {
    if (isStopping?.()) throw stopping()
    const { isReadOnly, changedTables } = await storage.ping().catch(() => {
      throw unavailable()
    })
    if (changedTables.length > 0) throw tableChanged(changedTables)
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { status: isReadOnly ? 'read-only' : 'ok' }
  }

/** The path of each probe, and its handler. */
export const probesOf = (service: Service): Readonly<Record<string, Handler>> => ({
  '/livez': live,
  '/readyz': ready(service),
})
