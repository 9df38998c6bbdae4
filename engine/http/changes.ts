/** Answers those who follow the changes of a resource: a page of changes, perhaps after a wait. */
import { changeEntry } from '../contract/changeEntry.js'
import { decodeChangesCursor, encodeChangesCursor, readerDigest } from '../contract/changesCursor.js'
import * as errors from '../contract/errors.js'
import { cursorIssue } from '../contract/issues.js'
import type { ResourceOperation } from '../contract/operations.js'
import { parseFollowQuery } from '../contract/parameters.js'
import type { Rights } from '../descriptor/access.js'
import type { Resource } from '../descriptor/registry.js'
import { oncePer } from '../process/oncePer.js'
import type { ChangesPage } from '../storage/storage.js'
import { resourceGuard } from './callers.js'
import { sendUncached } from './conditional.js'
import type { AppContext } from './requestLog.js'
import type { Handler, Service } from './serviceParts.js'
import type { Followed } from './waitingChanges.js'

/** A page as the body of a response. */
const pageBody = (resource: Resource, { changes, more }: ChangesPage, cursor: string): Buffer => {
  const entries = changes.flatMap((change, n) => [Buffer.from(n > 0 ? ',' : ''), changeEntry(resource, change)])
  const meta = `],"meta":{"next":"${cursor}","more":${more}}}`
  return Buffer.concat([Buffer.from('{"data":['), ...entries, Buffer.from(meta)])
}

/** The handler of the changes of a resource; `refresh` looks again who sends the request, where headers do not say it. */
export const followChanges = (
  service: Service,
  { resource }: Pick<ResourceOperation, 'resource'>,
  refresh?: (ctx: AppContext) => void,
): Handler => {
  const { storage, waiting } = service
  const guard = resourceGuard(service, resource)
  const digestOf = oncePer((rights: Rights) => readerDigest(resource, rights))
  /** Clients that waited for the same have the same page. */
  const bodies = new WeakMap<ChangesPage, Buffer>()
  const bodyOf = (page: ChangesPage, digest: string): Buffer => {
    const cursor = () => encodeChangesCursor(resource, { digest, position: page.next })
    const body = bodies.get(page) ?? pageBody(resource, page, cursor())
    bodies.set(page, body)
    return body
  }
  return async (ctx) => {
    const rights = await guard.read(ctx, { namesFields: false })
    const { cursor: sent, limit, wait } = parseFollowQuery(ctx.querystring)
    const cursor = sent === undefined ? undefined : decodeChangesCursor(resource, sent)
    if (sent !== undefined && !cursor) throw errors.parametersInvalid([cursorIssue(sent, 'notOfChanges')])
    const digest = digestOf(rights)
    if (cursor && cursor.digest !== digest) throw errors.resync()
    ctx.state.parsed = performance.now()
    let page: Followed
    if (cursor && wait > 0) {
      page = await waiting.next({ resource, rights, digest, after: cursor.position, limit }, wait * 1_000, ctx.res)
      refresh?.(ctx)
      if (digestOf(await guard.read(ctx, { namesFields: false })) !== digest) throw errors.resync()
    } else page = await storage.changes(resource, { rights, after: cursor?.position, limit })
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = true
    if (page === 'resync') throw errors.resync()
    // Whoever comes back finds another process.
    if (waiting.isClosed) ctx.set('Connection', 'close')
    await sendUncached(ctx, bodyOf(page, digest))
  }
}
