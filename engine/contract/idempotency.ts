/** `Idempotency-Key`: what makes a create safe to send again, as clients are told of it. */
import { z } from 'zod'
import type { BodyIssue } from './errors.js'

export const keyHeader = 'Idempotency-Key'
export const replayedHeader = 'Idempotency-Replayed'

/** Visible ASCII, so that a key is the same bytes to everyone it passes. */
const keyGrammar = /^[\x21-\x7e]{1,255}$/

/** The header as the documents describe it. */
export const keySchema = z.object({
  [keyHeader]: z.string().min(1).max(255).regex(keyGrammar).optional().meta({
    description:
      'A key of your own making for this create. Sent again within 24 hours with the same key and body, it stores nothing more and answers as it did the first time; with another body it is refused.',
    example: '9f1c2b34-leave-2026-07',
  }),
})

/** The header by which an answer says that it was given before. */
export const replayedSchema = z.object({
  [replayedHeader]: z.literal('true').optional().meta({
    description: 'Present where the row was stored by an earlier request with the same `Idempotency-Key`.',
  }),
})

const keyIssue = (type: string, msg: string): BodyIssue => ({ type, loc: ['header', keyHeader], msg })

/** What is wrong with a key, if anything is. */
export const faultOfKey = (key: string): BodyIssue | undefined =>
  keyGrammar.test(key)
    ? undefined
    : keyIssue('idempotency_key', `${keyHeader} takes 1 to 255 visible ASCII characters, without spaces.`)

/** A key that came before with another request. */
export const keyReused = (): BodyIssue =>
  keyIssue(
    'idempotency_key_reused',
    `This ${keyHeader} was used for another create within the last 24 hours; take a new key for a new create.`,
  )
