/** Dates and times: their text forms, and the clock functions that a descriptor may use as a default or a managed value. */

const describe = (name: string, description: string, format: 'date' | 'timestamp', sample: string) =>
  ({ name, description, format, sample }) as const

/** What the documents say about each of these functions; the samples are fixed, so that the documents do not change with time. */
const clocks = {
  today: describe('today', 'today’s date (UTC)', 'date', '2026-01-31'),
  now: describe('now', 'the current time (UTC)', 'timestamp', '2026-01-31T09:30:00Z'),
  nowInMilliseconds: describe('now', 'the current time (UTC)', 'timestamp', '2026-01-31T09:30:00.000Z'),
}

/** Not by identity: a project may have two copies of this module. */
const brand = Symbol.for('resource-registry-engine.clock')

/** Named, because generated descriptors and messages have the names of these functions. */
const clock = (name: keyof typeof clocks, read: () => string): (() => string) =>
  Object.defineProperties(read, { [brand]: { value: name }, name: { value: name } })

const clockName = (value: unknown): keyof typeof clocks | undefined =>
  typeof value === 'function' ? (value as { [brand]?: keyof typeof clocks })[brand] : undefined

/** Today's date in UTC, `YYYY-MM-DD`. */
export const today = clock('today', () => new Date().toISOString().slice(0, 10))

/** The current second in UTC, `YYYY-MM-DDTHH:MM:SSZ`; a field of kind timestamp gets milliseconds too. */
export const now = clock('now', () => `${new Date().toISOString().slice(0, 19)}Z`)

/** The current millisecond in UTC: what `now` is for a field of kind timestamp. */
const nowInMilliseconds = clock('nowInMilliseconds', () => new Date().toISOString())

/** A value, or the clock with milliseconds if it is `now`. */
export const preciseClock = <T>(value: T): T | (() => string) =>
  clockName(value) === 'now' ? nowInMilliseconds : value

/** The description of a function that is one of these clocks. */
export const describeClock = (value: unknown): (typeof clocks)[keyof typeof clocks] | undefined => {
  const name = clockName(value)
  return name && clocks[name]
}

const dateForm = /^(?!0000)\d{4}-\d\d-\d\d$/

/** Whether a text is a day between 0001-01-01 and 9999-12-31, as `YYYY-MM-DD`. */
export const isDate = (text: string): boolean => {
  if (!dateForm.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  // JavaScript turns 30 February into 2 March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

const timestampForm =
  /^(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d{1,3})?(?:[Zz]|([+-](?:[01]\d|2[0-3]):[0-5]\d))$/

/** A time of RFC 3339 with at most milliseconds, in UTC as `toISOString()` prints it; undefined for any other text. */
export const parseTimestamp = (text: string): string | undefined => {
  const [, date, time, fraction = '', offset = 'Z'] = timestampForm.exec(text) ?? []
  if (date === undefined || !isDate(date)) return undefined
  const utc = new Date(`${date}T${time}${fraction}${offset}`).toISOString()
  // An offset can lead out of the years that a date can have.
  return isDate(utc.slice(0, 10)) ? utc : undefined
}
