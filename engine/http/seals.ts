/** Seals texts that browsers keep for the service: they can neither be read nor changed there. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** What is sealed for one purpose cannot be opened for another. */
export const sealer = <T>(purpose: string, secret = randomBytes(32).toString('base64url')) => {
  const key = createHash('sha256').update(`${purpose}\n${secret}`).digest()
  return {
    seal(content: T): string {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const text = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    /** Undefined if it was not sealed with this secret. */
    open(sealed: string): T | undefined {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < 28) return undefined
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      try {
        const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
        return JSON.parse(String(text)) as T
      } catch {
        return undefined
      }
    },
  }
}
