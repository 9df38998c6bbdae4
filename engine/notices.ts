/** What a process says about itself (its start, warnings, its workers): sentences in a terminal, JSON log lines elsewhere. */
import { pino } from 'pino'

export interface Notices {
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

const inTerminal: Notices = {
  info: (message) => console.log(message),
  warn: (message) => console.log(`Warning: ${message}`),
  error: (message) => console.log(`Error: ${message}`),
}

/** Written at once, for the process may be about to end; LOG_LEVEL does not apply, for the first lines hold the address. */
const asJson = (): Notices => {
  const logger = pino({ base: { pid: process.pid } }, pino.destination({ dest: 1, sync: true }))
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  }
}

export const notices: Notices = process.stdout.isTTY ? inTerminal : asJson()
