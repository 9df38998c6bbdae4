/** UUIDs (RFC 9562): parsed in any case, and made in the order of time, so that new rows stay together. */
import { randomFillSync } from 'node:crypto'
import { Violation } from './violations.js'

const grammar = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

export const parseUuid = (text: string): string | Violation =>
  grammar.test(text) ? text.toLowerCase() : new Violation('uuid_parsing', text)

const bytes = Buffer.alloc(16)
let last = 0n

/** A UUID of version 7. Within a process, each is greater than the one before: the 12 bits after the milliseconds count on. */
export const newUuid = (): string => {
  const now = BigInt(Date.now()) << 12n
  last = now > last ? now | BigInt(Math.floor(Math.random() * 0x400)) : last + 1n
  randomFillSync(bytes, 8)
  bytes.writeUIntBE(Number(last >> 12n), 0, 6)
  bytes.writeUInt16BE(0x7000 | Number(last & 0xfffn), 6)
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
