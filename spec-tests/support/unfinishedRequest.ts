/** A create whose head the service has received and whose body is not complete yet. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Sends the head and a part of the body; `received` is what the service has sent after its 100 Continue. */
export const unfinishedRequest = async (address: string, token: string, body: string) => {
  const { port, hostname } = new URL(address)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const head = `POST /api/v1/leave HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(head)
  await once(socket, 'data')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.write(body.slice(0, 5))
  return {
    /** Sends the rest. */
    complete: () => socket.write(body.slice(5)),
    received: () => received,
    close: () => socket.destroy(),
  }
}

/** Waits until a service that stops accepts no connection any more. */
export const untilClosed = async (address: string): Promise<void> => {
  const accepts = () =>
    new Promise<boolean>((resolve) => {
      const { port, hostname } = new URL(address)
      const socket = connect(Number(port), hostname, () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  while (await accepts()) await setTimeout(20)
}
