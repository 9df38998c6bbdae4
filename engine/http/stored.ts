/** The outcome of a write as a response: the stored row, or the error that says why nothing was stored. */
import * as errors from '../contract/errors.js'
import { keyReused, replayedHeader } from '../contract/headers.js'
import { conflictIssue, constraintIssue } from '../contract/issues.js'
import { basePath } from '../contract/service.js'
import type { Registry, Resource, RowId, RowValues } from '../descriptor/registry.js'
import { type Table, Unavailable } from '../storage/storage.js'
import { type Outcome, rowTag } from '../storage/write.js'
import { jsonType } from './conditional.js'
import type { AppContext } from './requestLog.js'

export const rowPath = ({ path }: Resource, id: RowId): string => `${basePath}/v1/${path}/${encodeURIComponent(id)}`

/** Throws unless the row was stored. */
export const storedRow = (
  registry: Registry,
  resource: Resource,
  outcome: Outcome,
  { id = '', values = {}, issues = [] }: { id?: RowId; values?: RowValues; issues?: readonly errors.Issue[] },
) => {
  if ('id' in outcome) return outcome
  if ('refused' in outcome) throw errors.bodyInvalid([constraintIssue(resource, outcome.refused, values)])
  if ('mismatch' in outcome) throw errors.bodyInvalid([keyReused()])
  if ('isMissing' in outcome) throw errors.rowNotFound(resource.name, id)
  if ('current' in outcome) throw errors.preconditionFailed(`"${rowTag(outcome.current)}"`)
  if ('changed' in outcome) throw new Unavailable(`row ${id} of ${resource.path} is changed too often`)
  if ('isForbidden' in outcome) throw errors.rowForbidden()
  if ('referencing' in outcome) throw errors.referenced(resource.name, outcome.referencing, outcome.isTooMany)
  const conflicts = outcome.conflicts.map(({ type, field }) => conflictIssue(registry, resource, type, field, values))
  throw errors.bodyInvalid([...issues, ...conflicts])
}

/** A stored row as its caller may see it now, if another request stored it: its rights may have changed since. */
export const shownNow = async <S extends { readonly id: RowId; readonly body: Buffer; readonly replayed: boolean }>(
  table: Table,
  isRestricted: boolean,
  stored: S,
): Promise<S> => {
  if (!stored.replayed || !isRestricted || stored.body.length === 0) return stored
  const row = await table.get(stored.id)
  return { ...stored, body: row?.body ?? idOnly(stored.body) }
}

/** The id of a row, for a caller that may not read the row. */
export const idOnly = (body: Buffer): Buffer => {
  const { id } = JSON.parse(String(body)) as { id: RowId | number }
  return Buffer.from(JSON.stringify({ id }))
}

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
