/** Checks the write token: writes are disabled without a configured one, and unauthorized without the right one. */
import { timingSafeEqual } from 'node:crypto'
import { tokenMissing, tokenWrong, writesDisabled } from '../contract/errors.js'

/** Compares in constant time, whatever the length of what was sent. */
const isSame = (sent: Buffer, expected: Buffer): boolean => {
  const padded = Buffer.alloc(expected.length)
  sent.copy(padded)
  return timingSafeEqual(padded, expected) && sent.length === expected.length
}

/** Makes a function that throws unless the Authorization header has the token. */
export const writeGuard = (token: string | undefined): ((authorization: string | undefined) => void) => {
  if (token === undefined) {
    return () => {
      throw writesDisabled()
    }
  }
  const expected = Buffer.from(token, 'utf8')
  return (authorization = '') => {
    const [, sent] = /^bearer +(\S.*)$/i.exec(authorization) ?? []
    if (sent === undefined) throw tokenMissing()
    // Node decodes headers as Latin-1; as bytes, a token in UTF-8 compares as it was sent.
    if (!isSame(Buffer.from(sent, 'latin1'), expected)) throw tokenWrong()
  }
}
