/** The cursor of somebody who follows the changes of a resource: a position, and what its reader could read when it was made. */
import { createHash } from 'node:crypto'
import type { Rights } from '../descriptor/access.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { rulePath } from '../descriptor/rulePaths.js'
import { parseCursor } from './parameters.js'

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** What the values of a field look like. */
const describeField = ({ name, kind, digits, places, redacted, references }: Field) =>
  [name, kind, digits, places, redacted, references].map((part) => part ?? null)

/** A digest of what somebody may read of a resource: which rows, and which fields. Who may read the same has the same one. */
export const readerDigest = (resource: Resource, rights: Rights): string => {
  const { read, hidden } = rights.of(resource)
  const rows =
    read === 'all'
      ? read
      : read.map((rule) =>
          Object.entries(rule).map(([name, values]) => [
            rulePath(resource, name).map(describeField),
            values.map(String).toSorted(),
          ]),
        )
  const fields = resource.fields.filter(({ name }) => !hidden.includes(name)).map(describeField)
  return digest(JSON.stringify([rows, fields]))
}

interface Cursor {
  /** That of the reader. */
  readonly digest: string
  /** Where it is, as the storage says it. */
  readonly position: string
}

/** What only a cursor that was changed by mistake lacks: whoever makes one on purpose learns nothing but what they may read. */
const checksum = (parts: readonly string[]): string => digest(JSON.stringify(parts))

export const encodeChangesCursor = ({ path }: Resource, { digest: reader, position }: Cursor): string => {
  const parts = [path, reader, position]
  return Buffer.from(JSON.stringify([...parts, checksum(parts)])).toString('base64url')
}

/** Undefined if it is not a cursor of the changes of this resource. */
export const decodeChangesCursor = ({ path }: Resource, cursor: string): Cursor | undefined => {
  const parts = parseCursor(cursor)
  const isWhole = Array.isArray(parts) && parts.length === 4 && parts.every((part) => typeof part === 'string')
  if (!isWhole) return undefined
  const [of, reader, position, sum] = parts as [string, string, string, string]
  return of === path && sum === checksum([of, reader, position]) ? { digest: reader, position } : undefined
}
