/** Formats JSON log lines for a terminal. */

const levels: Readonly<Record<string, string>> = { 40: 'WARN ', 50: 'ERROR ', 60: 'FATAL ' }
const noticeLevels: Readonly<Record<string, string>> = { 40: 'Warning: ', 50: 'Error: ' }

interface LogLine {
  readonly level: number
  readonly time: number
  readonly msg: string
  readonly [name: string]: unknown
}

/** The stack of an error and of its causes, indented below the line. */
const formatStack = (err: unknown): string => {
  const { stack, cause } = (err ?? {}) as { stack?: string; cause?: unknown }
  return stack ? `\n  ${stack.replaceAll('\n', '\n  ')}${cause ? `\n  caused by:${formatStack(cause)}` : ''}` : ''
}

const formatBytes = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} kB`)

/** `12:34:56 GET /api/v1/leave 200 · 1.2 ms · 3.4 kB · 9f1c…`, or the message and its fields. */
export const plainLine = (json: string): string => {
  const { level, time, msg, err, pid: _, ...rest } = JSON.parse(json) as LogLine
  const clock = new Date(time).toTimeString().slice(0, 8)
  const { id, method, path, status, bytes, duration, ...more } = rest
  const isRequest = method !== undefined
  const text = isRequest ? `${method} ${path} ${status} · ${duration} ms · ${formatBytes(Number(bytes))} · ${id}` : msg
  const fields = Object.entries(!isRequest && id !== undefined ? { id, ...more } : more)
  const formatted = fields.map(([name, value]) => ` ${name}=${JSON.stringify(value)}`).join('')
  return `${clock} ${levels[level] ?? ''}${text}${formatted}${formatStack(err)}\n`
}

/** The message alone: notices are sentences for people. */
export const plainNotice = (json: string): string => {
  const { level, msg } = JSON.parse(json) as LogLine
  return `${noticeLevels[level] ?? ''}${msg}\n`
}
