/** Cancels the statement that a connection runs, by a cancel request on another connection, which poolers support too. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, type PoolClient } from 'pg'

/** Properties of the driver's connections that its types leave out. */
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

/** How long a request may take, in milliseconds. */
const limit = 1_000

/** The pause before another request, in milliseconds: one that arrives before its statement has no effect. */
const pause = 50

/** Resolves with whether the server has handled the request, after which it closes the connection. */
const requestCancel = (client: PoolClient): Promise<boolean> =>
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
    const timer = setTimeout(() => finish(false), limit)
    wire.on('connect', () => (ssl ? wire.requestSsl() : send()))
    wire.on('sslconnect', send)
    wire.on('error', () => finish(false))
    wire.on('end', () => finish(isSent))
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`)
    else wire.connect(port, host)
  })

/**
 * Cancels a statement. Resolves when it has ended, with whether its connection may run another one: a request that is not delivered yet
 * would cancel that.
 */
export const cancelStatement = async (client: PoolClient, running: Promise<unknown>): Promise<boolean> => {
  let hasEnded = false
  const ended = running
    .catch(() => {})
    .then(() => {
      hasEnded = true
    })
  while (!hasEnded) {
    if (!(await requestCancel(client))) return false
    await Promise.race([ended, sleep(pause)])
  }
  return true
}
