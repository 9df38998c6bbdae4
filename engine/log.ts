/** The log: one line an event on standard output, JSON for machines and plain words in a terminal. */
import { type Logger, pino } from 'pino'
import { plainLine } from './plainLine.js'

/** Lines are written when this many characters have gathered, and at the latest after this many milliseconds. */
const batchLength = 8 * 1024
const batchTime = 200

interface Logged extends Error {
  readonly code?: unknown
}

/** What is told of an error: not every property, for a database's errors may carry the values of a row. */
const errorShown = ({ name, message, code, stack, cause }: Logged): object => ({
  name,
  message,
  ...(code !== undefined && { code }),
  stack,
  ...(cause instanceof Error && { cause: errorShown(cause) }),
})

/** Gathers lines, because handing each on by itself costs as much as making it; no request waits for the output. */
const inBatches = () => {
  const output = pino.destination({ dest: 1, sync: false })
  let gathered = ''
  const write = (): void => {
    if (gathered !== '') output.write(gathered)
    gathered = ''
  }
  setInterval(write, batchTime).unref()
  process.on('exit', () => {
    write()
    output.flushSync()
  })
  return {
    write(line: string) {
      gathered += line
      if (gathered.length >= batchLength) write()
    },
  }
}

/** Someone is looking: each line is shown at once, and in words. */
const inWords = { write: (line: string) => process.stdout.write(plainLine(line)) }

/** Makes the logger of a process; what has gathered is written when the process ends. */
export const createLogger = (level: string): Logger =>
  pino(
    { level, base: { pid: process.pid }, serializers: { err: errorShown } },
    process.stdout.isTTY ? inWords : inBatches(),
  )
