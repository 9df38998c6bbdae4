/** The trace that a request belongs to: the `traceparent` header of W3C Trace Context. */
import type { IncomingMessage } from 'node:http'

/** The ids by which tracing tools find the trace and the caller's span. */
export interface TraceContext {
  readonly traceId: string
  readonly parentId: string
}

/** Version, trace id, parent id and flags; only versions after 00 may have more. */
const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]*)?$/

const isZero = (id: string): boolean => /^0+$/.test(id)

/** Parses a header; undefined if it is not valid, so that it is ignored as the standard asks. */
export const parseTraceparent = (header: string): TraceContext | undefined => {
  const [, version, traceId = '', parentId = '', more] = format.exec(header) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  return isZero(traceId) || isZero(parentId) ? undefined : { traceId, parentId }
}

/** The trace of a request, if it has a valid one. */
export const traceOf = ({ headers }: IncomingMessage): TraceContext | undefined => {
  const { traceparent } = headers
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined
}
