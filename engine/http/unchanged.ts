/**
 * Answers a client that has what it asks for already, ahead of Koa: there is no body to find, compress or send, and what
 * Koa does for a request that has one would be most of the cost.
 */
import type { IncomingMessage } from 'node:http'
import type { Operation } from '../contract/operation.js'
import { basePath } from '../contract/service.js'
import type { Storage, Table } from '../storage/storage.js'
import { readItemId } from './itemId.js'
import { listQueryReader } from './query.js'
import { sentTag, unchanged } from './reading.js'

interface Readable {
  readonly operation: string
  readonly table: Table
}

interface Listable extends Readable {
  /** Throws where the query string is to be refused. */
  readonly parseQuery: (querystring: string) => unknown
}

/** Whether there is such a row. */
const exists = async (table: Table, segment: string): Promise<boolean> => {
  const { id } = readItemId(segment)
  return id !== undefined && (await table.get(id)) !== undefined
}

/** Makes the function that finds the 304 for a request that deserves one, and the operation it belongs to. */
export const unchangedReads = (operations: readonly Operation[], storage: Storage) => {
  const lists = new Map<string, Listable>()
  const rows = new Map<string, Readable>()
  for (const operation of operations) {
    if (!('resource' in operation)) continue
    const { kind, id, resource } = operation
    const readable = { operation: id, table: storage.table(resource) }
    const path = `${basePath}/v1/${resource.path}`
    if (kind === 'list') lists.set(path, { ...readable, parseQuery: listQueryReader(resource) })
    if (kind === 'get') rows.set(path, readable)
  }
  return async (request: IncomingMessage, path: string, querystring: string) => {
    const list = lists.get(path)
    const slash = path.lastIndexOf('/')
    const read = list ?? rows.get(path.slice(0, slash))
    if (!read) return undefined
    try {
      const tag = await read.table.tag()
      const sent = sentTag(request, tag)
      if (sent === undefined) return undefined
      if (list) list.parseQuery(querystring)
      else if (!(await exists(read.table, path.slice(slash + 1)))) return undefined
      return { operation: read.operation, answer: unchanged(tag, sent) }
    } catch {
      // Whatever is wrong with the request or the database is met again, and told, on the ordinary way.
      return undefined
    }
  }
}
