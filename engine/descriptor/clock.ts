/** The two readings of the server's clock that a descriptor may name as a default or a managed value. */

/** Today's date in UTC, `YYYY-MM-DD`. */
export const today = (): string => new Date().toISOString().slice(0, 10)

/** This second in UTC, `YYYY-MM-DDTHH:MM:SSZ`. */
export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`
