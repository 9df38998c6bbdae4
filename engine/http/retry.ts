/** Reads what makes a create safe to send again. */
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import type { BodyIssue } from '../contract/errors.js'
import { faultOfKey } from '../contract/idempotency.js'
import type { Retry } from '../storage/storage.js'

/** The retry of a request that has a key; a fault of the key joins those of the body. */
export const retryOf = (ctx: Context, source: string, issues: BodyIssue[]): Retry | undefined => {
  const key = ctx.req.headers['idempotency-key'] as string | undefined
  if (key === undefined) return undefined
  const fault = faultOfKey(key)
  if (fault) issues.push(fault)
  // The path too: the same body sent elsewhere is another request.
  return { key, digest: createHash('sha256').update(`${ctx.path}\n${source}`).digest('hex') }
}
