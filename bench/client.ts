/** A client that measures single requests, one after another or several at once. */
import { Agent, request } from 'node:http'
import { median } from '../support/statistics.js'

export interface Call {
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

  /** Answers with the status, the body and the milliseconds it took. */
  call({
    path,
    method = 'GET',
    headers = {},
    body = '',
  }: Call): Promise<{ status: number; body: string; took: number }> {
    return new Promise((resolve, reject) => {
      const start = performance.now()
      const { hostname, port } = this.#address
      const length = body ? { 'content-length': Buffer.byteLength(body) } : {}
      const options = { hostname, port, path, method, headers: { ...length, ...headers }, agent: this.#agent }
      const sent = request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const took = performance.now() - start
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), took })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** The milliseconds of a call, which has to succeed. */
  async timed(call: Call): Promise<number> {
    const { status, took } = await this.call(call)
    if (status >= 300) throw new Error(`${call.path} answered ${status}`)
    return took
  }

  /** The median milliseconds of calls made one after another. */
  async latency(calls: readonly Call[]): Promise<number> {
    const took: number[] = []
    for (const call of calls) took.push(await this.timed(call))
    return median(took)
  }

  /** Calls a second, by so many clients at once. */
  async rate(call: Call, clients: number, count: number): Promise<number> {
    let left = count
    const start = performance.now()
    const one = async () => {
      while (left-- > 0) await this.timed(call)
    }
    await Promise.all(Array.from({ length: clients }, one))
    return (count * 1000) / (performance.now() - start)
  }
}
