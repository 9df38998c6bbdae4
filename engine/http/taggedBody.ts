/** Bodies that are made in memory: pages, documents and files. */
import { createHash } from 'node:crypto'
import type { CachedBody } from '../storage/storage.js'
import { markFixed } from './compress.js'

/** The tag is a hash of the bytes, so every process has the same one. */
export const taggedBody = (body: Buffer): CachedBody => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

/** A body that is the same as long as the process runs. */
export const fixedBody = (body: Buffer): CachedBody => {
  markFixed(body)
  return taggedBody(body)
}
