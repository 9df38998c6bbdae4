/** A file that a setting names: read at the start, and again when it changes. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'

/** How often the file is looked at, in milliseconds. */
const checkMs = 2_000

/** A file that a setting names cannot be used; the message is for the operator. */
export class SettingFileError extends Error {
  override readonly name = 'SettingFileError'
}

/** Parses the JSON array of such a file; `noun` and `expected` are for messages, which show no values. */
export const parseEntries = <S extends z.ZodType>(
  text: string,
  schema: S,
  { noun, expected }: { readonly noun: string; readonly expected: string },
): z.output<S>[] => {
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    throw new SettingFileError('it is not valid JSON')
  }
  if (!Array.isArray(entries)) throw new SettingFileError('it is not a JSON array')
  return entries.map((entry, n) => {
    const { data, error } = schema.safeParse(entry)
    if (!error) return data
    const place = error.issues[0]?.path.join('.') || error.issues[0]?.message
    throw new SettingFileError(`${noun} ${n + 1} is not valid (${place}); ${expected}`)
  })
}

interface WatchedFile<T> {
  /** The setting that names the file, for messages. */
  readonly setting: string
  readonly path: string
  /** Reads its text; throws with what is wrong. */
  readonly parse: (text: string) => readonly T[]
  /** What it has, for messages: `keys`. */
  readonly noun: string
  readonly warn: (message: string) => void
  readonly onChange?: () => void
}

const stateOf = (path: string): string => {
  const { mtimeMs, size, ino, ctimeMs } = statSync(path)
  return `${mtimeMs} ${ctimeMs} ${size} ${ino}`
}

/** Throws if the file is wrong. One that does not exist yet has no entries; one that becomes wrong later leaves them as they were. */
export const watchFile = <T>({ setting, path, parse, noun, warn, onChange }: WatchedFile<T>) => {
  const read = () => parse(readFileSync(path, 'utf8'))
  let state = 'missing'
  let entries: readonly T[] = []
  try {
    if (existsSync(path)) {
      state = stateOf(path)
      entries = read()
    }
  } catch (error) {
    throw new SettingFileError(`${setting} cannot be used: ${(error as Error).message}`)
  }
  const look = () => {
    let now = 'missing'
    try {
      now = stateOf(path)
      if (now === state) return
      entries = read()
      warn(`${setting} was read again: ${entries.length} ${noun}.`)
      onChange?.()
    } catch (error) {
      if (now !== state)
        warn(`${setting} cannot be used, and the ${noun} stay as they were: ${(error as Error).message}`)
    }
    state = now
  }
  const timer = setInterval(look, checkMs).unref()
  return {
    entries: () => entries,
    close: () => clearInterval(timer),
  }
}
