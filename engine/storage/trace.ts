/** What a storage reports about its work, for the debug log. Reports have no values of rows or queries, which may be private. */
export type Trace = (message: string, fields: Readonly<Record<string, unknown>>) => void

/** The milliseconds since a time, as a number of a log line. */
export const elapsed = (since: number): number => Math.round((performance.now() - since) * 1000) / 1000
