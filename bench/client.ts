/** An HTTP client that measures single requests, in sequence or concurrently. */
import { Agent, request } from 'node:http'
import { median } from '../support/statistics.js'

export interface TimedRequest {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export class Client {
  readonly #address: URL
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  constructor(address: string) {
    this.#address = new URL(address)
  }

  /** Resolves with the status, the body and the duration in milliseconds. */
  send({
    path,
    method = 'GET',
    headers = {},
    body = '',
  }: TimedRequest): Promise<{ status: number; body: string; ms: number }> {
    return new Promise((resolve, reject) => {
      const start = performance.now()
      const { hostname, port } = this.#address
      const length = body ? { 'content-length': Buffer.byteLength(body) } : {}
      const options = { hostname, port, path, method, headers: { ...length, ...headers }, agent: this.#agent }
      const sent = request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const ms = performance.now() - start
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), ms })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** The duration of a request in milliseconds; throws unless it succeeds. */
  async duration(timed: TimedRequest): Promise<number> {
    const { status, ms } = await this.send(timed)
    if (status >= 300) throw new Error(`${timed.path} responded with ${status}`)
    return ms
  }

  /** The median duration of requests sent in sequence. */
  async latency(requests: readonly TimedRequest[]): Promise<number> {
    const durations: number[] = []
    for (const one of requests) durations.push(await this.duration(one))
    return median(durations)
  }
}
