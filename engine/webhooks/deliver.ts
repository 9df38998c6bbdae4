/** One attempt to deliver a webhook: a signed POST, of whose response only the status line and the headers count. */
import { createHmac } from 'node:crypto'
import { type LookupAddress, lookup as resolveName } from 'node:dns'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPrivateAddress } from './addresses.js'
import type { Subscriber } from './subscribers.js'

/** How long an attempt may take, in milliseconds. */
const timeoutMs = 15_000

export interface Delivery {
  readonly id: string
  readonly body: string
}

export interface Received {
  readonly status: number
  readonly retryAfter?: string | undefined
}

/** The headers of Standard Webhooks; there is a signature by each secret. */
export const signedHeaders = ({ id, body }: Delivery, secrets: readonly Buffer[], now = Date.now()) => {
  const timestamp = String(Math.floor(now / 1_000))
  const sign = (secret: Buffer) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  }
}

const privateAddress = (address: string): Error =>
  new Error(`${address} is a private address, which only WEBHOOKS_ALLOW_PRIVATE=true allows`)

/** Resolves a name, and fails if any of its addresses is private: what was checked is what the connection uses. */
export const publicLookup: LookupFunction = (name, options, callback) => {
  resolveName(name, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const refused = error ? undefined : addresses.find(({ address }) => isPrivateAddress(address))
    const [first] = addresses ?? []
    if (error || refused || !first) callback(error ?? privateAddress(refused?.address ?? name), [])
    else if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

/** Rejects if there is no response; `signal` gives the attempt up. */
export const deliver = (
  delivery: Delivery,
  { url, secrets }: Pick<Subscriber, 'url' | 'secrets'>,
  { allowPrivate, signal }: { readonly allowPrivate: boolean; readonly signal: AbortSignal },
): Promise<Received> =>
  new Promise((resolve, reject) => {
    const body = Buffer.from(delivery.body)
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    // Names are checked when they are resolved, which an address is not.
    if (!allowPrivate && isIP(host) !== 0 && isPrivateAddress(host)) throw privateAddress(host)
    const limit = AbortSignal.timeout(timeoutMs)
    const request = (url.protocol === 'http:' ? httpRequest : httpsRequest)(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': 'resource-registry-engine',
        ...signedHeaders(delivery, secrets),
      },
      // Each attempt has its own connection, whose address is checked.
      agent: false,
      signal: AbortSignal.any([limit, signal]),
      ...(!allowPrivate && { lookup: publicLookup }),
    })
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response
      resolve({ status, retryAfter: headers['retry-after'] })
      response.on('error', () => {})
      request.destroy()
    })
    request.on('error', (error) =>
      reject(limit.aborted ? new Error(`there was no response within ${timeoutMs / 1_000} s`) : error),
    )
    request.end(body)
  })
