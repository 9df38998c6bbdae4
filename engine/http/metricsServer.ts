/** Serves metrics on a separate port, so that API clients cannot read them. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { register } from 'prom-client'

/** Serves metrics, by default those of this process; returns their address. */
export const serveMetrics = async (
  host: string,
  port: number,
  read: () => Promise<string> = () => register.metrics(),
): Promise<string> => {
  const server = createServer(async ({ url, method }, response) => {
    if (url !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) return void response.writeHead(404).end()
    try {
      const text = await read()
      response.writeHead(200, { 'Content-Type': register.contentType }).end(text)
    } catch {
      response.writeHead(503).end()
    }
  })
  server.unref()
  server.listen(port, host)
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`
}
