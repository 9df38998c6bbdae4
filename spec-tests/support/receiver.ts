/** A receiver of webhooks, which answers as a test says. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onClose } from './service.js'
import { until } from './until.js'

export interface Received {
  readonly id: string
  readonly text: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
  readonly at: number
}

/** The status of an answer and its headers; `hang` never answers. */
export type Answer = number | readonly [number, Record<string, string>] | 'hang'

export const secretOf = (text: string): string => `whsec_${Buffer.from(text).toString('base64')}`

/** Whether one of the signatures is that by a secret. */
export const isSignedBy = (secret: string, { headers, text }: Received): boolean => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  const signature = createHmac('sha256', key).update(signed).digest('base64')
  return String(headers['webhook-signature']).split(' ').includes(`v1,${signature}`)
}

/** Answers in turn what a test gives, and then 204. */
export const startReceiver = async () => {
  const received: Received[] = []
  const answers: Answer[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { headers } = request
      received.push({ id: String(headers['webhook-id']), text, headers, body: JSON.parse(text), at: Date.now() })
      const answer = answers.shift() ?? 204
      if (answer === 'hang') return
      const [status, more] = typeof answer === 'number' ? [answer, {}] : answer
      response.writeHead(status, more).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onClose(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=not-for-logs`,
    received,
    /** What the next requests are answered. */
    answers,
    count: (n: number) => until(() => received.length >= n),
  }
}
