/** Answers kept ready: those that were asked for twice, for as long as their table has not changed. */
import type { Reading } from './storage.js'

interface Entry {
  readonly tag: string
  /** Undefined from the first asking to the second: keeping every page costs more than it gives. */
  readonly body: Buffer | undefined
}

/** What an entry costs besides its body: its key, its tag, and a compressed copy that may come to be kept beside it. */
const overhead = 512
const sizeOf = ({ body }: Entry): number => overhead + (body ? body.length * 1.25 : 0)

/** A store of bounded size that drops what was not asked for the longest. */
export class ReadyAnswers {
  readonly #entries = new Map<string, Entry>()
  readonly #most: number
  #size = 0

  constructor(bytes: number) {
    this.#most = bytes
  }

  /** The answer to this question in this state of the table, if it was kept. */
  get(question: string, tag: string): Buffer | undefined {
    const entry = this.#entries.get(question)
    if (entry?.body === undefined || entry.tag !== tag) return undefined
    // The map keeps the order of insertion: what was just asked for goes to its end.
    this.#entries.delete(question)
    this.#entries.set(question, entry)
    return entry.body
  }

  /** Takes note of an answer: of its question at first, of the answer itself when it is given again. */
  offer(question: string, { tag, body }: Reading): void {
    if (body === undefined) return
    const before = this.#entries.get(question)
    if (before) this.#drop(question, before)
    const entry = { tag, body: before?.tag === tag ? body : undefined }
    this.#size += sizeOf(entry)
    this.#entries.set(question, entry)
    for (const [oldest, dropped] of this.#entries) {
      if (this.#size <= this.#most) break
      this.#drop(oldest, dropped)
    }
  }

  #drop(question: string, entry: Entry): void {
    this.#entries.delete(question)
    this.#size -= sizeOf(entry)
  }
}
