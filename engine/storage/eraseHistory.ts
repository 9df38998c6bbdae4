/** Erases what is kept of the values of a row: in the log, in the stored responses of idempotency keys, and in pending deliveries. */
import { isWhole } from '../descriptor/kinds/index.js'
import { idField, type Registry, type Resource, type RowId } from '../descriptor/registry.js'
import type { Cell, Dialect, OwnRunner } from './dialect.js'
import { eraseResponse } from './erasedResponses.js'
import { keysTable } from './keys.js'
import { logTable } from './log.js'
import { parameter, sql, toBuffer } from './sql.js'
import type { Storage } from './storage.js'
import { eraseDeliveries } from './webhooks.js'

/** So many stored responses are read at once. */
const responsesAtOnce = 500

interface Parts {
  readonly registry: Registry
  readonly dialect: Dialect
  readonly own: OwnRunner
  readonly table: Storage['table']
}

export const createEraser = ({ registry, dialect, own, table }: Parts): Storage['eraseHistory'] => {
  const { compile, tellAgain = '', bytes } = dialect
  const ofRow = sql`name = ${parameter('name', 'text')} and id = ${parameter('id', 'text')}`
  const find = compile(sql`select 1 from ${logTable} where ${ofRow} limit 1`)
  const eraseLog = compile(
    sql`update ${logTable} set before = null, after = null, old_keys = null, new_keys = null${tellAgain} where ${ofRow}`,
  )
  const dropDeliveries = compile(eraseDeliveries)
  const body = 'cast(body as text)'
  const start = parameter('start', 'text')
  // What begins with an id is a row; others may have the row anywhere.
  const readResponses = compile(
    sql`select key, ${bytes('body')} from ${keysTable} where key > ${parameter('after', 'text')}
      and (substr(${body}, 1, length(${start})) = ${start} or (${body} <> '' and substr(${body}, 1, 6) <> '{"id":'))
      order by key limit ${String(responsesAtOnce)}`,
  )
  const storeResponse = compile(
    sql`update ${keysTable} set body = ${bytes(parameter('body', 'text'))} where key = ${parameter('key', 'text')}`,
  )

  return (resource: Resource, id: RowId) =>
    own.transaction(async (run) => {
      const row = { name: resource.table, id }
      const isLogged = (await run(find, row)).length > 0
      await run(eraseLog, row)
      await run(dropDeliveries, { $resource: resource.path })
      const text = isWhole(idField(resource)) ? id : JSON.stringify(id)
      for (let after: Cell | undefined = ''; after !== undefined; ) {
        const responses: readonly (readonly Cell[])[] = await run(readResponses, { after, start: `{"id":${text},` })
        for (const [key, response] of responses) {
          const erased = eraseResponse(registry, resource, id, toBuffer(response).toString())
          if (erased !== undefined) await run(storeResponse, { key, body: erased })
        }
        after = responses.length === responsesAtOnce ? responses.at(-1)?.[0] : undefined
      }
      return isLogged || (await table(resource).get(id)) !== undefined
    })
}
