/** A change as JSON, which is the same in the feed of changes and in webhooks. */
import { isWhole } from '../descriptor/kinds/index.js'
import { idField, type Resource, type RowId } from '../descriptor/registry.js'

interface Change {
  readonly op: 'put' | 'remove'
  readonly id: RowId
  readonly at: number
  readonly row?: Buffer
}

/** Makes the parts of an entry; the row is JSON already. */
export const entryWriter = (resource: Resource) => {
  const writeId = isWhole(idField(resource)) ? (id: RowId) => id : (id: RowId) => JSON.stringify(id)
  return ({ op, id, at, row }: Change): readonly (string | Buffer)[] => {
    const head = `{"op":"${op}","id":${writeId(id)},"at":"${new Date(at).toISOString()}"`
    return row ? [`${head},"row":`, row, '}'] : [`${head}}`]
  }
}
