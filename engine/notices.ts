/** Messages about the process itself (start, warnings, workers): plain text in a terminal, JSON log lines elsewhere. */
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

/** Synchronous, because the process may exit next. LOG_LEVEL does not apply: the ready line contains the address. */
const asJson = (): Notices => {
  const logger = pino({ base: { pid: process.pid } }, pino.destination({ dest: 1, sync: true }))
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  }
}

export const notices: Notices = process.stdout.isTTY ? inTerminal : asJson()
