/** What a write has stored as a response. */
import { replayedHeader } from '../contract/headers.js'
import { basePath } from '../contract/service.js'
import type { Resource, RowId } from '../descriptor/registry.js'
import { jsonType } from './conditional.js'
import type { AppContext } from './requestLog.js'

export const rowPath = ({ path }: Resource, id: RowId): string => `${basePath}/v1/${path}/${encodeURIComponent(id)}`

/** Sends what a write has stored; nothing of a row that was deleted. */
export const sendStored = (
  ctx: AppContext,
  status: number,
  { body, replayed }: { readonly body: Buffer; readonly replayed: boolean },
): void => {
  ctx.status = status
  ctx.state.usedDatabase = true
  if (ctx.state.isPrivate) ctx.set({ 'Cache-Control': 'private, no-store', Vary: 'Authorization' })
  if (replayed) ctx.set(replayedHeader, 'true')
  if (body.length === 0) return
  ctx.set('Content-Type', jsonType)
  ctx.body = body
}
