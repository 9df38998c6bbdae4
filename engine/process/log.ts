/** The log on standard output: JSON lines, or plain text in a terminal. */
import { type Logger, pino } from 'pino'
import { plainLine, plainNotice } from './plainLine.js'
import { endProgressLine } from './progress.js'

/** The maximum size of a batch in bytes: writes to a pipe of up to this size are atomic, so lines of several processes never mix. */
const maxBatch = 4096

/** The longest time before a line is written, in milliseconds. */
const flushInterval = 200

/** The error fields that are logged; driver errors may contain row values. */
const errorFields = ({ name, message, code, stack, cause }: Error & { readonly code?: unknown }): object => ({
  name,
  message,
  ...(code !== undefined && { code }),
  stack,
  ...(cause instanceof Error && { cause: errorFields(cause) }),
})

const options = { base: { pid: process.pid }, serializers: { err: errorFields } }

/** Writes lines in batches and asynchronously, so that no request waits for the output; the last batch when the process ends. */
const batchedOutput = () =>
  pino.destination({ dest: 1, sync: false, minLength: maxBatch - 1, maxWrite: maxBatch, periodicFlush: flushInterval })

/** A terminal shows each line at once, as text. */
const terminalOutput = (format: typeof plainLine) => {
  const isColoured = process.stdout.hasColors()
  return {
    write(line: string) {
      endProgressLine()
      process.stdout.write(format(line, isColoured))
    },
  }
}

const { isTTY } = process.stdout

export const createLogger = (level: string): Logger =>
  pino({ ...options, level }, isTTY ? terminalOutput(plainLine) : batchedOutput())

/**
 * Logs messages about the process itself: its start, warnings, its workers. Synchronous, because the process may exit next.
 * LOG_LEVEL does not apply: the ready line contains the address.
 */
export const notices: Logger = pino(
  options,
  isTTY ? terminalOutput(plainNotice) : pino.destination({ dest: 1, sync: true }),
)
