/** The logger: JSON lines on standard output, or readable lines in a terminal. */
import { type Logger, pino } from 'pino'
import { plainLine } from './plainLine.js'

interface CodedError extends Error {
  readonly code?: unknown
}

/** The error fields that are logged; the other fields of a driver error may contain row values. */
const serializeError = ({ name, message, code, stack, cause }: CodedError): object => ({
  name,
  message,
  ...(code !== undefined && { code }),
  stack,
  ...(cause instanceof Error && { cause: serializeError(cause) }),
})

const terminal = { write: (line: string) => process.stdout.write(plainLine(line)) }

/** Writes in batches of 8 kB, at the latest after 200 ms and when the process exits, so that no request waits for the output. */
const batched = () => pino.destination({ dest: 1, sync: false, minLength: 8 * 1024, periodicFlush: 200 })

export const createLogger = (level: string): Logger =>
  pino(
    { level, base: { pid: process.pid }, serializers: { err: serializeError } },
    process.stdout.isTTY ? terminal : batched(),
  )
