/** Differences between a descriptor and its table that need a maintainer, and the words that approve them: `drop:TABLE.COLUMN`. */

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
 * A sentence with one command for several words, each of which is refused without the others; undefined if no word is missing, or if
 * one word or `--adopt` is enough.
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

const verbs = ['add', 'adopt', 'create', 'drop', 'fill', 'rename', 'retarget', 'retype']

/** The entries of `--apply`, joined by commas; a value that fills rows may have commas too. */
export const splitWords = (given: string): string[] =>
  given.split(new RegExp(`,(?=\\s*(?:,|$|(?:${verbs.join('|')}):))`)).map((word) => word.trim())

/** What is wrong with the form of a word; undefined if nothing is. */
export const wordFault = (word: string): string | undefined => {
  const [, verb = '', table] = /^([^:]*)(?::(.*))?$/.exec(word) ?? []
  if (!verbs.includes(verb)) return `"${word}" must begin with one of ${verbs.map((one) => `${one}:`).join(', ')}`
  return table ? undefined : `"${word}" names no table; use the form that npm run plan prints`
}

/** The words of a maintainer, each of which approves one change. */
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

  /** The value of `fill:TABLE.COLUMN=VALUE`, given what precedes it. */
  valueOf(word: string): string | undefined {
    const given = [...this.#given].find((one) => one.startsWith(`${word}=`))
    return given !== undefined && this.has(given) ? given.slice(word.length + 1) : undefined
  }

  /** Those that approve a change which is planned. */
  get used(): readonly string[] {
    return [...this.#given].filter((word) => !this.#unused.has(word))
  }

  /** Those that approve no planned change. */
  get unused(): readonly string[] {
    return [...this.#unused]
  }
}
