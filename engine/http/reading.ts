/** How a reading is answered: with a strong tag, not at all where the client has it, and compressed where that is wanted. */
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { CachedBody } from '../storage/storage.js'
import { type Answer, answer, jsonType } from './answer.js'
import { compressed, encodingFor } from './compress.js'

/** A tag as it is in the storage: without its quotes, and without the encoding that is a part of it on the wire. */
const bare = (tag: string): string => tag.replace(/^(?:W\/)?"(.*?)(?:-(?:br|gzip))?"$/, '$1')

/** The tag, as the client sent it, by which it says that it has this state already. */
export const sentTag = ({ headers }: IncomingMessage, tag: string): string | undefined => {
  const sent = headers['if-none-match']
  // Almost every client sends back the one tag it was given.
  if (sent === undefined || sent === `"${tag}"`) return sent
  return sent
    .split(',')
    .map((one) => one.trim())
    .find((one) => one === '*' || bare(one) === tag)
}

/** The headers of every answer to a read: the tag as it is on the wire. */
const readHeaders = (tag: string): string[] => ['Cache-Control', 'no-cache', 'Vary', 'Accept-Encoding', 'ETag', tag]

/** The answer to a client that has this state, by the tag it sent. */
export const unchanged = (tag: string, sent: string): Answer => ({
  status: 304,
  headers: readHeaders(sent === '*' ? `"${tag}"` : sent),
})

/** The answer with what was read. */
export const readingAnswer = async (ctx: Context, { tag, body }: CachedBody, type = jsonType): Promise<Answer> => {
  const sent = sentTag(ctx.req, tag)
  if (sent !== undefined) return unchanged(tag, sent)
  const encoding = encodingFor(ctx, body)
  if (encoding === undefined) return answer(200, type, body, readHeaders(`"${tag}"`))
  const headers = [...readHeaders(`"${tag}-${encoding}"`), 'Content-Encoding', encoding]
  return answer(200, type, await compressed(body, encoding), headers)
}
