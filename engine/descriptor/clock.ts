/** The clock functions that a descriptor may use as a default or a managed value. */

/** Today's date in UTC, `YYYY-MM-DD`. */
export const today = (): string => new Date().toISOString().slice(0, 10)

/** The current second in UTC, `YYYY-MM-DDTHH:MM:SSZ`. */
export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`
