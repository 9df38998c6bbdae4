/** Cancels the statement that a connection runs, by a cancel request on another connection, which poolers support too. */
import { Connection, type PoolClient } from 'pg'

/** What the driver knows of a connection; its types leave this out. */
interface Session {
  readonly host: string
  readonly port: number
  readonly ssl: boolean | object
  readonly processID: number
  readonly secretKey: number
}

interface Wire extends Connection {
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/** How long the request may take, in milliseconds. */
const limit = 1_000

/**
 * Resolves once the server has delivered the request, with whether it has: it closes the connection only afterwards. Until then the
 * connection must not run another statement, which the request would cancel.
 */
export const cancelStatement = (client: PoolClient): Promise<boolean> =>
  new Promise((resolve) => {
    const { host, port, ssl, processID, secretKey } = client as unknown as Session
    const wire = new Connection({ ssl } as never) as Wire
    let isSent = false
    const send = () => {
      isSent = true
      wire.cancel(processID, secretKey)
    }
    const finish = (isDelivered: boolean) => {
      clearTimeout(timer)
      wire.stream.destroy()
      resolve(isDelivered)
    }
    const timer = setTimeout(finish, limit, false)
    wire.on('connect', () => (ssl ? wire.requestSsl() : send()))
    wire.on('sslconnect', send)
    wire.on('error', () => finish(false))
    wire.on('end', () => finish(isSent))
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`)
    else wire.connect(port, host)
  })
