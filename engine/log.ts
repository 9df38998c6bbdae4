/** The log: one JSON line an event on standard output, written in batches so that no request waits for it. */
import { type Logger, pino } from 'pino'

/** Lines are written when this many bytes have gathered, and at the latest after this many milliseconds. */
const batchBytes = 8 * 1024
const batchTime = 200

/** Makes the logger of a process; what has gathered is written when the process ends. */
export const createLogger = (level: string): Logger => {
  const destination = pino.destination({ dest: 1, sync: false, minLength: batchBytes })
  setInterval(() => destination.flush(), batchTime).unref()
  return pino({ level, base: { pid: process.pid } }, destination)
}
