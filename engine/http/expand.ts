/** A single row with what `expand` names: rows that it references, and lists of rows that reference it. */
import type { Rights } from '../descriptor/access.js'
import { expandableReferrers } from '../descriptor/expansion.js'
import { kindOf, type ParameterValue } from '../descriptor/kinds/index.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import type { Registry, Resource, RowId } from '../descriptor/registry.js'
import { rowTag } from '../storage/sql.js'
import type { CachedBody, Caller, Storage, StreamedBody } from '../storage/storage.js'

type Member = readonly [name: string, list: CachedBody | StreamedBody]

/** The row up to where further members of `expanded` can follow. */
const openRow = (row: Buffer, isExpanded: boolean): Buffer =>
  isExpanded
    ? Buffer.concat([row.subarray(0, -2), Buffer.from(',')])
    : Buffer.concat([row.subarray(0, -1), Buffer.from(',"expanded":{')])

async function* streamed(head: Buffer, members: readonly Member[]): AsyncGenerator<Uint8Array> {
  yield head
  for (const [n, [name, { body }]] of members.entries()) {
    yield Buffer.from(`${n > 0 ? ',' : ''}${JSON.stringify(name)}:`)
    if (Buffer.isBuffer(body)) yield body
    else yield* body
  }
  yield Buffer.from('}}')
}

/** Makes the function that reads a row with what `expand` names; undefined if there is no such row. */
export const rowExpander = (storage: Storage, registry: Registry, resource: Resource) => {
  const referrers = expandableReferrers(registry, resource)
  return async (
    id: RowId,
    expand: readonly string[],
    caller: Caller,
    rights: Rights,
  ): Promise<CachedBody | StreamedBody | undefined> => {
    const references = expand.filter((name) => !referrers.has(name))
    const row = await storage.table(resource, references, rights).get(id, caller)
    const lists = expand.flatMap((name) => {
      const reference = referrers.get(name)
      return reference ? [[name, reference] as const] : []
    })
    if (!row || lists.length === 0) return row
    const members = await Promise.all(
      lists.map(async ([name, { resource: other, field }]): Promise<Member> => {
        const value = kindOf(field.kind).parse(id, field) as ParameterValue
        const where = [{ field: field.name, operator: 'eq' as const, value }]
        return [name, await storage.table(other, [], rights).list({ ...defaultListQuery, where }, caller)]
      }),
    )
    const parts = streamed(openRow(row.body, references.length > 0), members)
    if (members.some(([, list]) => !('tag' in list))) return { body: parts }
    const read: Uint8Array[] = []
    for await (const part of parts) read.push(part)
    const body = Buffer.concat(read)
    return { tag: rowTag(body), body }
  }
}
