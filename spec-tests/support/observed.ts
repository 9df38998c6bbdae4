/** What a running service logs, measures and sends as bytes. */
import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import type { RunningService } from './process.js'

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape
export const logLines = ({ output }: RunningService): Record<string, any>[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

export const scrape = async (running: RunningService): Promise<string> => {
  const response = await fetch(/Metrics at ([^\s"]+)/.exec(running.output())?.[1] ?? '')
  assert.is(response.status, 200)
  return response.text()
}

/** The value of a metric. */
export const sample = (metrics: string, name: string): number =>
  Number(new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(metrics)?.[1])

/** Writes bytes unchanged, then some more at intervals; resolves with everything received until the server closed. */
export const exchange = (address: string, bytes: string, more?: { piece: string; every: number }): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const socket = connect(Number(new URL(address).port), '127.0.0.1', () => {
      // Without more to send, the client closes its side.
      if (more) socket.write(bytes, 'latin1')
      else socket.end(bytes, 'latin1')
    })
    const going = more && setInterval(() => socket.writable && socket.write(more.piece), more.every)
    const patience = AbortSignal.timeout(90_000)
    patience.onabort = () => socket.destroy(new Error('the server has not closed the connection'))
    socket.on('data', (chunk) => received.push(chunk))
    socket.on('error', (error: Error & { code?: string }) => {
      // A server that has responded may close without reading the rest.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearInterval(going)
      resolve(Buffer.concat(received))
    })
  })
