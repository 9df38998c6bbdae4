/** The log: one JSON line an event on standard output, written in batches so that no request waits for it. */
import { type Logger, pino } from 'pino'

/** Lines are written when this many characters have gathered, and at the latest after this many milliseconds. */
const batchLength = 8 * 1024
const batchTime = 200

/** Makes the logger of a process; what has gathered is written when the process ends. */
export const createLogger = (level: string): Logger => {
  const output = pino.destination({ dest: 1, sync: false })
  // Gathered here, because handing each line on by itself costs as much as making it.
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
  const batch = {
    write(line: string) {
      gathered += line
      if (gathered.length >= batchLength) write()
    },
  }
  return pino({ level, base: { pid: process.pid } }, batch)
}
