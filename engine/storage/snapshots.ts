/** States of a log as PostgreSQL writes its snapshots: `100:104:100,102` has all transactions before 104 but 100 and 102. */

export interface Snapshot {
  readonly end: bigint
  readonly missing: readonly bigint[]
}

export const parseSnapshot = (text: string): Snapshot => {
  const [, end = '0', missing = ''] = text.split(':')
  return { end: BigInt(end), missing: missing === '' ? [] : missing.split(',').map(BigInt) }
}

/** Whether a state has a transaction. */
export const hasTransaction = ({ end, missing }: Snapshot, transaction: bigint): boolean =>
  transaction < end && !missing.includes(transaction)

/** The transactions that one state may have and another has not, as ranges. */
export const rangesBetween = (from: string, to: string): (readonly [first: bigint, last: bigint])[] => {
  const { end, missing } = parseSnapshot(from)
  const last = parseSnapshot(to).end - 1n
  return [...missing.map((one) => [one, one] as const), ...(last >= end ? [[end, last] as const] : [])]
}

/**
 * The same state for entries of which the last one is of some transaction: later transactions, whose numbers others may have after a
 * restore, are not in it.
 */
export const upTo = (state: string, last: bigint): string => {
  const missing = parseSnapshot(state).missing.filter((one) => one <= last)
  return `${missing[0] ?? last + 1n}:${last + 1n}:${missing.join()}`
}

export const isSnapshot = (text: string): boolean => /^\d{1,19}:\d{1,19}:(?:\d{1,19}(?:,\d{1,19})*)?$/.test(text)
