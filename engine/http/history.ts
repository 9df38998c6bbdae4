/** The handlers of the history of a row: its changes, as the caller sees them, and their erasing. */
import * as errors from '../contract/errors.js'
import type { ResourceOperation } from '../contract/operations.js'
import { itemIdParser, parseHistoryQuery } from '../contract/parameters.js'
import type { History, HistoryEntry } from '../storage/storage.js'
import { resourceGuard } from './callers.js'
import { sendTagged, taggedBody } from './conditional.js'
import type { Handler, Service } from './serviceParts.js'

/** By hand: values keep their digits. */
const entryJson = ({ at, by, op, changed }: HistoryEntry): string => {
  const members = [...changed].map(([name, values]) => `${JSON.stringify(name)}:[${values.join()}]`)
  const head = JSON.stringify({ at: new Date(at).toISOString(), by, op })
  return `${head.slice(0, -1)},"changed":{${members.join()}}}`
}

const pageJson = ({ entries, total }: History, limit: number, offset: bigint): string =>
  `{"data":[${entries.map(entryJson).join()}],"meta":{"total":${total},"limit":${limit},"offset":${offset}}}`

/** The segment before the last one names the row. */
const itemIn = (path: string): string => path.split('/').at(-2) ?? ''

export const history = (service: Service, { resource }: ResourceOperation): Handler => {
  const { storage } = service
  const guard = resourceGuard(service, resource)
  const parseItemId = itemIdParser(resource)
  return async (ctx) => {
    const rights = await guard.readAs(ctx)
    const { id, text } = parseItemId(itemIn(ctx.path))
    const { limit, offset } = parseHistoryQuery(ctx.querystring)
    ctx.state.parsed = performance.now()
    const found = id === undefined ? undefined : await storage.history(resource, id, { rights, limit, offset })
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = id !== undefined
    if (!found) throw errors.rowNotFound(resource.name, text)
    await sendTagged(ctx, taggedBody(Buffer.from(pageJson(found, limit, offset))))
  }
}

export const eraseHistory = (service: Service, { resource }: ResourceOperation): Handler => {
  const { storage } = service
  const guard = resourceGuard(service, resource)
  const parseItemId = itemIdParser(resource, errors.bodyInvalid)
  return async (ctx) => {
    await guard.service(ctx)
    const { id, text } = parseItemId(itemIn(ctx.path))
    const isErased = id !== undefined && (await storage.eraseHistory(resource, id))
    ctx.state.usedDatabase = id !== undefined
    if (!isErased) throw errors.rowNotFound(resource.name, text)
    ctx.status = 204
  }
}
