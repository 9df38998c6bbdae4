/** HTTP as bytes: what is written goes out as it stands, and the answers are cut out of what comes back. */
import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

export type Header = readonly [name: string, value: string]

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** A request as bytes; headers stand as they are given, as often as they are given. */
export const requestBytes = (method: string, path: string, headers: readonly Header[] = [], body?: Buffer): Buffer => {
  const isFramed = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  const framing: Header[] = body === undefined || isFramed ? [] : [['content-length', String(body.length)]]
  const lines = [['host', 'trial'] as const, ...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([latin1(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body ?? Buffer.alloc(0)])
}

/** The bytes of a chunked body and where it ends; undefined while it is not whole. */
const unchunked = (bytes: Buffer, start: number): { body: Buffer; end: number } | undefined => {
  const parts: Buffer[] = []
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts), end: next }
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = next
  }
}

/** The first whole answer among some bytes, and where it ends; undefined while it is not whole. */
export const firstAnswer = (bytes: Buffer, method: string): { answer: Answer; end: number } | undefined => {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (!status) throw new Error(`no answer begins with ${JSON.stringify(statusLine.slice(0, 80))}`)
  const start = headEnd + 4
  if (status < 200) {
    // An interim answer; the one that counts comes behind it.
    const last = firstAnswer(bytes.subarray(start), method)
    return last && { answer: last.answer, end: start + last.end }
  }
  const headers = new Map(
    lines.map((line): Header => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const whole = (body: Buffer, end: number) => ({ answer: { status, headers, text: body.toString('utf8') }, end })
  // What the parser refuses it refuses without knowing the method, so that answer has a body in any case.
  const isByParser = status >= 400 && headers.get('connection') === 'close'
  if ((method === 'HEAD' && !isByParser) || status === 204 || status === 304) return whole(Buffer.alloc(0), start)
  if (headers.get('transfer-encoding') === 'chunked') {
    const found = unchunked(bytes, start)
    return found && whole(found.body, found.end)
  }
  const length = headers.get('content-length')
  // Without a length the body is all that comes until the connection ends.
  const end = length === undefined ? bytes.length : start + Number(length)
  return bytes.length < end ? undefined : whole(bytes.subarray(start, end), end)
}

/** Every answer among some bytes; what is left over behind them is an error. */
export const answersIn = (bytes: Buffer): Answer[] => {
  const answers: Answer[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const first = firstAnswer(rest, 'GET')
    if (!first) throw new Error(`this is no whole answer: ${JSON.stringify(rest.toString('latin1').slice(0, 200))}`)
    answers.push(first.answer)
    rest = rest.subarray(first.end)
  }
  return answers
}

/** An idle connection is let go by the server after five seconds, and may be so just as it is taken up again. */
const freshFor = 4_000

/** A connection that asks one thing after another; where the server has closed it, the next question opens another. */
export class Wire {
  readonly #address: URL
  #socket: Socket | undefined
  #answered = 0

  constructor(address: string) {
    this.#address = new URL(address)
  }

  /** Writes a request and answers with what it is answered; rejects where the connection ends or nothing comes in time. */
  ask(bytes: Buffer, method = 'GET', patience = 10_000): Promise<Answer> {
    if (performance.now() - this.#answered > freshFor) this.close()
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
      const timer = setTimeout(() => fail(new Error(`no answer within ${patience} ms`)), patience)
      socket.setNoDelay(true)
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('the connection ended without an answer')))
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        let first: ReturnType<typeof firstAnswer>
        try {
          first = firstAnswer(received, method)
        } catch (error) {
          return fail(error as Error)
        }
        if (!first) return
        if (received.length > first.end) return fail(new Error('one request was answered twice'))
        const { answer } = first
        this.#answered = performance.now()
        if (answer.headers.get('connection') === 'close') this.close()
        settle(() => resolve(answer))
      })
      socket.write(bytes)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }
}
