/** A line of the log for a person: the time, what happened, and the rest as it is. */

const levels: Readonly<Record<string, string>> = { 40: 'WARN ', 50: 'ERROR ', 60: 'FATAL ' }

interface Line {
  readonly level: number
  readonly time: number
  readonly msg: string
  readonly [name: string]: unknown
}

/** A stack is shown below its line, as it would be anywhere else. */
const errorBelow = (err: unknown): string => {
  const { stack, cause } = (err ?? {}) as { stack?: string; cause?: unknown }
  return stack ? `\n  ${stack.replaceAll('\n', '\n  ')}${cause ? `\n  caused by:${errorBelow(cause)}` : ''}` : ''
}

const size = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} kB`)

/** A JSON line in words. */
export const plainLine = (json: string): string => {
  const { level, time, msg, err, pid: _, ...rest } = JSON.parse(json) as Line
  const clock = new Date(time).toTimeString().slice(0, 8)
  const { id, method, path, status, bytes, duration, ...more } = rest
  const request =
    method === undefined ? msg : `${method} ${path} ${status} · ${duration} ms · ${size(Number(bytes))} · ${id}`
  const others = Object.entries(method === undefined && id !== undefined ? { id, ...more } : more)
  const shown = others.map(([name, value]) => ` ${name}=${JSON.stringify(value)}`).join('')
  return `${clock} ${levels[level] ?? ''}${request}${shown}${errorBelow(err)}\n`
}
