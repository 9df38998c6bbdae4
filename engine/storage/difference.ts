/** Differences between a descriptor and its table that a start does not settle by itself, and the words that allow them. */

export interface Difference {
  readonly table: string
  readonly column?: string
  readonly message: string
  /** What resolves it. */
  readonly advice: string
  /** What `npm run migrate -- --apply` is given to carry it out; undefined if rows or the descriptor must change first. */
  readonly word?: string
  /** Whether a start is refused because of it. */
  readonly isBlocking: boolean
}

/** A difference in one paragraph. */
export const describeDifference = ({ table, column, message, advice }: Difference): string =>
  `table "${table}"${column === undefined ? '' : `, column "${column}"`}: ${message} ${advice}`

/** The command that carries a difference out. */
export const applyCommand = (word: string): string => `npm run migrate -- --apply ${word}`

/** The words of a maintainer, each of which allows one change. */
export class Words {
  readonly #given: ReadonlySet<string>
  readonly #unused: Set<string>

  constructor(words: readonly string[]) {
    this.#given = new Set(words)
    this.#unused = new Set(words)
  }

  has(word: string): boolean {
    this.#unused.delete(word)
    return this.#given.has(word)
  }

  /** Those that allow nothing that is to be done. */
  get unused(): readonly string[] {
    return [...this.#unused]
  }
}
