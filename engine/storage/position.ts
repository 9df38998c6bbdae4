/** Where a reader of the changes of some tables is, as a text that clients keep. */
import { z } from 'zod'
import type { RowId } from '../descriptor/registry.js'
import type { Place } from './log.js'
import { isSnapshot } from './snapshots.js'

const digits = z.string().regex(/^\d{1,19}$/)
const snapshot = z.string().refine(isSnapshot)
const mark = z.tuple([digits, z.string()])

const form = z.tuple([
  z.string(),
  z.array(mark),
  snapshot,
  z.union([
    z.null(),
    z.tuple([snapshot, z.union([z.null(), z.tuple([digits, digits])]), z.union([z.null(), z.string()])]),
  ]),
])

/** The newest entry of a table: its number, and its random mark, which no other entry has. */
export type Mark = z.infer<typeof mark>

export interface LogPosition {
  /** What tells the database from others. */
  readonly origin: string
  /** The newest entry of each table at the beginning. */
  readonly marks: readonly Mark[]
  /** The state of the log that the reader has. */
  readonly from: string
  /** What the reader has of a further state, if it has not read all of it. */
  readonly unread?:
    | {
        readonly to: string
        readonly last: Place | undefined
        /** The last row that was told because of the entry after that. */
        readonly lastRow: RowId | undefined
      }
    | undefined
}

export const positionText = ({ origin, marks, from, unread }: LogPosition): string => {
  const { to, last, lastRow } = unread ?? {}
  const part = to && [to, last ? [last.transaction, last.seq] : null, lastRow ?? null]
  return JSON.stringify([origin, marks, from, part ?? null])
}

/** The position that a text says; undefined if it says none. */
export const parsePosition = (text: string): LogPosition | undefined => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  const { data } = form.safeParse(json)
  if (!data) return undefined
  const [origin, marks, from, part] = data
  if (!part) return { origin, marks, from }
  const [to, last, lastRow] = part
  return {
    origin,
    marks,
    from,
    unread: {
      to,
      last: last ? { transaction: last[0], seq: last[1] } : undefined,
      lastRow: lastRow ?? undefined,
    },
  }
}

/** Nothing can be told after a position: whoever has it begins again. */
export class Resync extends Error {}
