/** Formats JSON log lines for a terminal. */

const levels: Readonly<Record<string, string>> = { 20: 'DEBUG ', 40: 'WARN ', 50: 'ERROR ', 60: 'FATAL ' }
const noticeLevels: Readonly<Record<string, string>> = { 40: 'Warning: ', 50: 'Error: ' }

const [red, green, yellow, cyan, grey] = [31, 32, 33, 36, 90]
const levelColours: Readonly<Record<string, number>> = { 20: grey, 40: yellow, 50: red, 60: red }
const statusColours = [undefined, cyan, green, cyan, yellow, red]

interface LogLine {
  readonly level: number
  readonly time: number
  readonly msg: string
  readonly [name: string]: unknown
}

const coloured = (text: string, colour: number | undefined): string =>
  colour === undefined || text === '' ? text : `\u001b[${colour}m${text}\u001b[39m`

const formatStack = (err: unknown): string => {
  const { stack, cause } = (err ?? {}) as { stack?: string; cause?: unknown }
  return stack ? `\n  ${stack.replaceAll('\n', '\n  ')}${cause ? `\n  caused by:${formatStack(cause)}` : ''}` : ''
}

const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

const formatDuration = (ms: number): string => (ms < 1000 ? `${ms.toFixed(2)} ms` : `${(ms / 1000).toFixed(2)} s`)

/** Enough of an id to find its line in a terminal; the response header has all of it. */
const shortId = (id: unknown): string => String(id).slice(0, 8)

/** The text without characters that control the terminal, which a client may send in a path. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
const printable = (text: unknown): string => String(text).replaceAll(/[\0-\x1f\x7f-\x9f]/g, '\ufffd')

/** `200  1.20 ms  3.4 kB 9f1c2d3e GET  /api/v1/books`: all columns but the last have a fixed width. */
const formatRequest = ({ id, method, path, status, bytes, duration }: Record<string, unknown>, isColoured: boolean) => {
  const colour = isColoured ? statusColours[Math.floor(Number(status) / 100)] : undefined
  const columns = [
    coloured(String(status), colour),
    formatDuration(Number(duration)).padStart(9),
    formatBytes(Number(bytes)).padStart(9),
    shortId(id).padEnd(8),
    String(method).padEnd(7),
    printable(path),
  ]
  return columns.join(' ')
}

export const plainLine = (json: string, isColoured: boolean): string => {
  const { level, time, msg, err, pid: _, ...details } = JSON.parse(json) as LogLine
  const clock = new Date(time).toTimeString().slice(0, 8)
  const { method, path, status, bytes, duration, id, ...otherDetails } = details
  const isRequest = method !== undefined
  const text = isRequest ? formatRequest(details, isColoured) : msg
  const members = { ...(!isRequest && id !== undefined && { id: shortId(id) }), ...otherDetails }
  const fields = Object.entries(members).filter(([, value]) => value !== undefined)
  const formatted = fields.map(([name, value]) => ` ${name}=${JSON.stringify(value)}`).join('')
  const word = coloured(levels[level] ?? '', isColoured ? levelColours[level] : undefined)
  return `${clock} ${word}${text}${formatted}${formatStack(err)}\n`
}

/** The message alone: notices are sentences for people. */
export const plainNotice = (json: string, isColoured: boolean): string => {
  const { level, msg } = JSON.parse(json) as LogLine
  return `${coloured(noticeLevels[level] ?? '', isColoured ? levelColours[level] : undefined)}${msg}\n`
}
