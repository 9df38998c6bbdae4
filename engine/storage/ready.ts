/** Answers kept ready: those that were asked for twice, for as long as their table has not changed. */
import type { CachedBody } from './storage.js'

interface Entry {
  readonly tag: string
  readonly body: Buffer
  /** Whether it was asked for since the last time that room was made. */
  used: boolean
}

/** What an entry costs besides its body: its key, its tag, and a compressed copy that may come to be kept beside it. */
const sizeOf = ({ body }: Entry): number => 512 + body.length * 1.25

/** How many questions are remembered that were asked once: keeping the answer to each would cost more than it gives. */
const mostAskedOnce = 2_000

/** A question longer than this is nobody's habit, and thousands of them would fill the memory that answers are refused. */
const longestQuestion = 500

/** A store of bounded size that drops what is asked for least. */
export class ReadyAnswers {
  readonly #entries = new Map<string, Entry>()
  readonly #most: number
  #askedOnce = new Set<string>()
  #size = 0

  constructor(bytes: number) {
    this.#most = bytes
  }

  /** The answer to this question in this state of the table, if it was kept. */
  get(question: string, tag: string): Buffer | undefined {
    const entry = this.#entries.get(question)
    if (entry?.tag !== tag) return undefined
    entry.used = true
    return entry.body
  }

  /** Takes note of an answer: of its question at first, of the answer itself when the question comes again. */
  offer(question: string, { tag, body }: CachedBody): void {
    if (question.length > longestQuestion) return
    const before = this.#entries.get(question)
    if (before) this.#drop(question, before)
    else if (!this.#askedOnce.delete(question)) {
      if (this.#askedOnce.size >= mostAskedOnce) this.#askedOnce = new Set()
      this.#askedOnce.add(question)
      return
    }
    const entry = { tag, body, used: false }
    if (sizeOf(entry) > this.#most) return
    this.#entries.set(question, entry)
    this.#size += sizeOf(entry)
    this.#makeRoom()
  }

  /** From the oldest on: what was used since the last time stays once more, at the end; what was not is dropped. */
  #makeRoom(): void {
    for (const [question, entry] of this.#entries) {
      if (this.#size <= this.#most) return
      this.#drop(question, entry)
      if (!entry.used) continue
      entry.used = false
      this.#entries.set(question, entry)
      this.#size += sizeOf(entry)
    }
  }

  #drop(question: string, entry: Entry): void {
    this.#entries.delete(question)
    this.#size -= sizeOf(entry)
  }
}
