/** Guards the writes: disabled without a configured token, refused without the right one. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { tokenMissing, tokenWrong, writesDisabled } from '../contract/errors.js'

/** Digests are of one length, so the comparison takes the same time whatever was sent. */
const digest = (token: Buffer): Buffer => createHash('sha256').update(token).digest()

/** Makes the guard of a deployment: it throws the refusal that an Authorization header deserves. */
export const writeGuard = (token: string | undefined): ((authorization: string | undefined) => void) => {
  if (token === undefined) {
    return () => {
      throw writesDisabled()
    }
  }
  const expected = digest(Buffer.from(token, 'utf8'))
  return (authorization = '') => {
    const [, sent] = /^bearer +(\S.*)$/i.exec(authorization) ?? []
    if (sent === undefined) throw tokenMissing()
    // Node reads headers as Latin-1; back to bytes, a token of any script compares as it was sent.
    if (!timingSafeEqual(digest(Buffer.from(sent, 'latin1')), expected)) throw tokenWrong()
  }
}
