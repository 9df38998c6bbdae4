/** Guards the writes: disabled without a configured token, refused without the right one. */
import { timingSafeEqual } from 'node:crypto'
import { tokenMissing, tokenWrong, writesDisabled } from '../contract/errors.js'

/** Compares bytes in a time that tells nothing of the expected ones, whatever was sent: as many are looked at in any case. */
const isSame = (sent: Buffer, expected: Buffer): boolean => {
  const looked = Buffer.alloc(expected.length)
  sent.copy(looked)
  return timingSafeEqual(looked, expected) && sent.length === expected.length
}

/** Makes the guard of a deployment: it throws the refusal that an Authorization header deserves. */
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
    // Node reads headers as Latin-1; back to bytes, a token of any script compares as it was sent.
    if (!isSame(Buffer.from(sent, 'latin1'), expected)) throw tokenWrong()
  }
}
