/**
 * Answers a client that has what it asks for already, ahead of Koa: there is no body to find, compress or send, and what
 * Koa does for a request that has one would be most of the cost.
 */
import type { IncomingMessage } from 'node:http'
import { basePath } from '../contract/openapi.js'
import type { Registry } from '../descriptor/registry.js'
import type { Storage, Table } from '../storage/storage.js'
import { readItemId } from './itemId.js'
import { questionReader } from './query.js'
import { sentTag, unchangedHeaders } from './reading.js'

interface Readable {
  readonly table: Table
  /** Throws where the query string is to be refused. */
  readonly questionOf: (querystring: string) => unknown
}

/** Whether there is such a row. */
const exists = async (table: Table, segment: string): Promise<boolean> => {
  const { id } = readItemId(segment)
  return id !== undefined && (await table.get(id)) !== undefined
}

/** Makes the function that finds the headers of a 304, for a request that deserves one. */
export const unchangedReads = (registry: Registry, storage: Storage) => {
  const lists = new Map<string, Readable>(
    registry.map((resource) => [
      `${basePath}/v1/${resource.path}`,
      { table: storage.table(resource), questionOf: questionReader(resource) },
    ]),
  )
  return async (request: IncomingMessage, path: string, querystring: string) => {
    const list = lists.get(path)
    const slash = path.lastIndexOf('/')
    const read = list ?? lists.get(path.slice(0, slash))
    if (!read) return undefined
    try {
      const tag = await read.table.tag()
      const sent = sentTag(request, tag)
      if (sent === undefined) return undefined
      if (list) list.questionOf(querystring)
      else if (!(await exists(read.table, path.slice(slash + 1)))) return undefined
      return unchangedHeaders(tag, sent)
    } catch {
      // Whatever is wrong with the request or the database is met again, and told, on the ordinary way.
      return undefined
    }
  }
}
