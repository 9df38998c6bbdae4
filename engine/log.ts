/** The log on standard output: JSON lines, or plain text in a terminal. */
import { type Logger, pino } from 'pino'
import { plainLine } from './plainLine.js'

/** Lines are written when this many bytes have come together, and at most so many at once: a pipe takes those in one piece, so
 * that lines of several processes never mix. */
const [minLength, maxWrite] = [2048, 4096]

/** The most milliseconds before a line is written. */
const flushInterval = 200

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

/** Writes in batches and asynchronously, so that no request waits for the output; the rest is written at exit. */
const batchedOutput = () => {
  const output = pino.destination({ dest: 1, sync: false, minLength, maxWrite, periodicFlush: flushInterval })
  process.on('exit', () => output.flushSync())
  return output
}

/** A terminal shows each line at once, as text. */
const terminalOutput = { write: (line: string) => process.stdout.write(plainLine(line)) }

/** Creates the logger of a process. */
export const createLogger = (level: string): Logger =>
  pino(
    { level, base: { pid: process.pid }, serializers: { err: errorFields } },
    process.stdout.isTTY ? terminalOutput : batchedOutput(),
  )
