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

/**
 * A sentence with the one command for several words, each of which is refused without the others; undefined if what was given is
 * enough, or one word, or `--adopt`.
 */
export const applyTogether = (
  differences: readonly Difference[],
  given: readonly string[] = [],
): string | undefined => {
  const missing = differences.flatMap(({ word, isBlocking }) => (isBlocking && word !== undefined ? [word] : []))
  const words = [...given, ...missing]
  if (missing.length === 0 || words.length === 1 || words.every((word) => word.startsWith('adopt:'))) return undefined
  return `If all of this is what you want, run: ${applyCommand(words.join(','))}`
}

const verbs = ['add', 'adopt', 'create', 'drop', 'rename', 'retype']

/** What is wrong with a word, whatever the database; undefined if nothing is. */
export const wordFault = (word: string): string | undefined => {
  const [, verb = '', table] = /^([^:]*)(?::(.*))?$/.exec(word) ?? []
  if (!verbs.includes(verb)) return `"${word}" begins with none of ${verbs.map((one) => `${one}:`).join(', ')}`
  return table ? undefined : `"${word}" names no table; write it as npm run plan does`
}

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

  /** Those that allow something that is to be done. */
  get used(): readonly string[] {
    return [...this.#given].filter((word) => !this.#unused.has(word))
  }

  /** Those that allow nothing that is to be done. */
  get unused(): readonly string[] {
    return [...this.#unused]
  }
}
