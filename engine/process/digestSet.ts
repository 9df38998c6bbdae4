/** A set of texts of which there may be millions, kept as digests: 32 to 64 bytes each. A Set takes more, and has at most 16 million. */
import { hash } from 'node:crypto'

/** Of 32 bits each: two of the texts never have the same 128 bits. */
const words = 4

/** The digest of a text, until the next call. */
const digestOf = (() => {
  const digest = new Uint32Array(words)
  const bytes = new Uint8Array(digest.buffer)
  return (text: string): Uint32Array => {
    // A text: a Buffer for each takes three times as long.
    const latin1 = hash('sha256', text, 'binary')
    for (let at = 0; at < bytes.length; at++) bytes[at] = latin1.charCodeAt(at)
    // Zero is an empty place.
    digest[0] ||= 1
    return digest
  }
})()

export const digestSet = () => {
  let table = new Uint32Array(words * 1_024)
  let size = 0
  const isAt = (at: number, digest: Uint32Array): boolean => {
    for (let n = 0; n < words; n++) if (table[at + n] !== digest[n]) return false
    return true
  }
  /** The place of a digest, or the empty one where it belongs. */
  const find = (digest: Uint32Array): number => {
    let at = (words * (digest[words - 1] as number)) % table.length
    while (table[at] !== 0 && !isAt(at, digest)) at = (at + words) % table.length
    return at
  }
  const grow = (): void => {
    const old = table
    table = new Uint32Array(2 * old.length)
    for (let at = 0; at < old.length; at += words) {
      if (old[at] === 0) continue
      const digest = old.subarray(at, at + words)
      table.set(digest, find(digest))
    }
  }
  return {
    has: (text: string): boolean => table[find(digestOf(text))] !== 0,
    /** Returns whether the text is new. */
    add(text: string): boolean {
      const digest = digestOf(text)
      const at = find(digest)
      if (table[at] !== 0) return false
      table.set(digest, at)
      if (2 * words * ++size > table.length) grow()
      return true
    },
  }
}
