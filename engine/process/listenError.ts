/** Explains why the service cannot listen, and which setting to change. */
import { SettingsError } from './settings.js'

interface ListenError extends Error {
  readonly code?: string
  readonly port?: number
}

export const explainListenError =
  (setting: 'PORT' | 'METRICS_PORT') =>
  (error: ListenError): never => {
    const { code = '', port } = error
    const unknownHost = 'HOST is not an address of this machine; use 127.0.0.1 or 0.0.0.0.'
    const messages: Readonly<Record<string, string>> = {
      EADDRINUSE: `Port ${port} is in use; set ${setting} to another port, or to 0 for any free port.`,
      EACCES: `This user may not listen on port ${port}; set ${setting} to another port.`,
      EADDRNOTAVAIL: unknownHost,
      ENOTFOUND: unknownHost,
    }
    throw messages[code] ? new SettingsError(messages[code]) : error
  }
