/** A change as JSON, which is the same in the feed of changes and in webhooks. */
import { isWhole } from '../descriptor/kinds/index.js'
import { idField, type Resource, type RowId } from '../descriptor/registry.js'

interface Change {
  readonly op: 'put' | 'remove'
  readonly id: RowId
  readonly at: number
  readonly row?: Buffer
}

export const changeEntry = (resource: Resource, { op, id, at, row }: Change): Buffer => {
  const idJson = isWhole(idField(resource)) ? id : JSON.stringify(id)
  const head = `{"op":"${op}","id":${idJson},"at":"${new Date(at).toISOString()}"`
  return row ? Buffer.concat([Buffer.from(`${head},"row":`), row, Buffer.from('}')]) : Buffer.from(`${head}}`)
}
