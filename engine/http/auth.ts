/** Checks the write token of a create. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { tokenMissing, tokenWrong, writesDisabled } from '../contract/errors.js'

/** Digests have one length, so comparing two takes the same time whatever was sent. */
const sha256 = (token: Buffer): Buffer => createHash('sha256').update(token).digest()

export const writeGuard = (token: string | undefined): ((authorization: string | undefined) => void) => {
  if (token === undefined) {
    return () => {
      throw writesDisabled()
    }
  }
  const expected = sha256(Buffer.from(token, 'utf8'))
  return (authorization = '') => {
    const [, sent] = /^bearer +(\S.*)$/i.exec(authorization) ?? []
    if (sent === undefined) throw tokenMissing()
    // Node decodes headers as Latin-1; as bytes, a token in UTF-8 compares as it was sent.
    if (!timingSafeEqual(sha256(Buffer.from(sent, 'latin1')), expected)) throw tokenWrong()
  }
}
