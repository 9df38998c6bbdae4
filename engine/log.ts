/** The log on standard output: one line per event, JSON for machines and plain words in a terminal. */
import { type Logger, pino } from 'pino'
import { plainLine } from './plainLine.js'

/** A batch is written at this many characters, and at the latest after this many milliseconds. */
const batchLength = 8 * 1024
const batchMs = 200

interface Logged extends Error {
  readonly code?: unknown
}

/** The error fields that are logged; driver errors may contain row values. */
const errorFields = ({ name, message, code, stack, cause }: Logged): object => ({
  name,
  message,
  ...(code !== undefined && { code }),
  stack,
  ...(cause instanceof Error && { cause: errorFields(cause) }),
})

/**
 * Writes lines in batches, and never blocks on a slow reader. SonicBoom's own `minLength` measures the whole batch again
 * for every line, which costs 2.6 µs a request, a twelfth of its time.
 */
const batchedOutput = () => {
  const output = pino.destination({ dest: 1, sync: false })
  let batch = ''
  const write = (): void => {
    if (batch !== '') output.write(batch)
    batch = ''
  }
  setInterval(write, batchMs).unref()
  process.on('exit', () => {
    write()
    output.flushSync()
  })
  return {
    write(line: string) {
      batch += line
      if (batch.length >= batchLength) write()
    },
  }
}

/** For a person at a terminal: each line at once, in words. */
const terminalOutput = { write: (line: string) => process.stdout.write(plainLine(line)) }

/** The logger of a process; the last batch is written when the process ends. */
export const createLogger = (level: string): Logger =>
  pino(
    { level, base: { pid: process.pid }, serializers: { err: errorFields } },
    process.stdout.isTTY ? terminalOutput : batchedOutput(),
  )
