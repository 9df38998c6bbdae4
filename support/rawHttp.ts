/** An HTTP client that sends bytes unchanged and parses the responses, for requests that other clients refuse to send. */
import { connect, type Socket } from 'node:net'

export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

export type Header = readonly [name: string, value: string]

/** Builds a request; headers are neither normalised nor deduplicated. */
export const requestBytes = (method: string, path: string, headers: readonly Header[] = [], body?: Buffer): Buffer => {
  const isFramed = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  const framing: Header[] = body === undefined || isFramed ? [] : [['content-length', String(body.length)]]
  const lines = [['host', 'localhost'] as const, ...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return body ? Buffer.concat([head, body]) : head
}

/** Decodes a chunked body; undefined while it is incomplete. */
const decodeChunked = (bytes: Buffer, start: number): { body: Buffer; end: number } | undefined => {
  const parts: Buffer[] = []
  for (let position = start; ; ) {
    const line = bytes.indexOf('\r\n', position)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', position, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts), end: next }
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    position = next
  }
}

/** Parses the first response; undefined while it is incomplete. */
const parseResponse = (bytes: Buffer, method: string): { response: RawResponse; end: number } | undefined => {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (!status) throw new Error(`not a status line: ${JSON.stringify(statusLine.slice(0, 80))}`)
  const start = headEnd + 4
  if (status < 200) {
    // An interim response such as 100 Continue; the final one follows.
    const final = parseResponse(bytes.subarray(start), method)
    return final && { response: final.response, end: start + final.end }
  }
  const headers = new Map(
    lines.map((line): Header => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const complete = (body: Buffer, end: number) => ({ response: { status, headers, text: body.toString('utf8') }, end })
  // The server's HTTP parser rejects a request before it knows the method, so its response has a body even for HEAD.
  const isByParser = status >= 400 && headers.get('connection') === 'close'
  if ((method === 'HEAD' && !isByParser) || status === 204 || status === 304) return complete(Buffer.alloc(0), start)
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = decodeChunked(bytes, start)
    return chunked && complete(chunked.body, chunked.end)
  }
  const length = headers.get('content-length')
  // Without a length, the body ends with the connection.
  const end = length === undefined ? bytes.length : start + Number(length)
  return bytes.length < end ? undefined : complete(bytes.subarray(start, end), end)
}

/** Parses all responses; throws if bytes are left over. */
export const parseResponses = (bytes: Buffer): RawResponse[] => {
  const responses: RawResponse[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const first = parseResponse(rest, 'GET')
    if (!first) throw new Error(`incomplete response: ${JSON.stringify(rest.toString('latin1').slice(0, 200))}`)
    responses.push(first.response)
    rest = rest.subarray(first.end)
  }
  return responses
}

/** A server may close a connection that is idle for longer than this, in milliseconds; then a new one is opened. */
const maxIdleMs = 4_000

/** Sends one request after another over a connection, and reconnects if the server has closed it. */
export class RawConnection {
  readonly #address: URL
  #socket: Socket | undefined
  #lastUsed = 0

  constructor(address: string) {
    this.#address = new URL(address)
  }

  /** Rejects if the connection ends, or if there is no response in time. */
  send(bytes: Buffer, method = 'GET', timeoutMs = 10_000): Promise<RawResponse> {
    if (performance.now() - this.#lastUsed > maxIdleMs) this.close()
    const socket = this.#socket?.writable ? this.#socket : connect(Number(this.#address.port), this.#address.hostname)
    this.#socket = socket
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0)
      const settle = (finish: () => void) => {
        clearTimeout(timer)
        socket.removeAllListeners()
        socket.on('error', () => {})
        finish()
      }
      const fail = (error: Error) => {
        settle(() => reject(error))
        this.close()
      }
      const timer = setTimeout(() => fail(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
      socket.setNoDelay(true)
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('the connection ended without a response')))
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        let parsed: ReturnType<typeof parseResponse>
        try {
          parsed = parseResponse(received, method)
        } catch (error) {
          return fail(error as Error)
        }
        if (!parsed) return
        if (received.length > parsed.end) return fail(new Error('bytes follow the response'))
        const { response } = parsed
        this.#lastUsed = performance.now()
        if (response.headers.get('connection') === 'close') this.close()
        settle(() => resolve(response))
      })
      socket.write(bytes)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }
}
