/** `Idempotency-Key`: makes a create safe to retry. */
import { z } from 'zod'
import type { Issue } from './errors.js'

export const keyHeader = 'Idempotency-Key'
export const replayedHeader = 'Idempotency-Replayed'

/** Visible ASCII only, so that every proxy passes a key on unchanged. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[!-~]+$/)
  .meta({
    description:
      'A unique key of your choice, such as a UUID. Retrying with the same key and body within 24 hours stores nothing and returns the first response; the same key with another body or path is refused with 422.',
  })

const keyIssue = (type: string, msg: string): Issue => ({ type, loc: ['header', keyHeader], msg })

/** What is wrong with a key, if anything. */
export const faultOfKey = (key: string): Issue | undefined =>
  idempotencyKey.safeParse(key).success
    ? undefined
    : keyIssue('idempotency_key', `${keyHeader} must be 1 to 255 visible ASCII characters, without spaces.`)

/** A key that an earlier, different request has used. */
export const keyReused = (): Issue =>
  keyIssue(
    'idempotency_key_reused',
    `This ${keyHeader} was used for a different create within the last 24 hours; use a new key.`,
  )
