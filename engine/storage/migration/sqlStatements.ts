/** Splits the text of an SQL file into statements, and finds those that would end or leave the transaction of the file. */

export type DatabaseName = 'sqlite' | 'postgres'

export interface SqlStatement {
  readonly sql: string
  /** The line on which it begins. */
  readonly line: number
  /** Its unquoted words in capitals, without comments. */
  readonly words: readonly string[]
}

/** What cannot be read, or must not run. */
export interface SqlError {
  readonly line: number
  readonly message: string
}

/** Where a token ends that begins at a place; -1 if it never ends, undefined if there is no such token. */
type End = number | undefined

const endOf = (pattern: RegExp, text: string, at: number): End => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Comments of PostgreSQL may contain comments. */
const nestedComment = (text: string, at: number): number => {
  let depth = 0
  for (const { 0: mark, index } of text.slice(at).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return at + index + 2
  }
  return -1
}

const commentEnd = (text: string, at: number, database: DatabaseName): End => {
  if (text.startsWith('--', at)) return endOf(/--[^\n]*/y, text, at)
  if (!text.startsWith('/*', at)) return undefined
  if (database === 'postgres') return nestedComment(text, at)
  // SQLite ends an open comment with the file.
  return endOf(/\/\*.*?\*\//sy, text, at) ?? text.length
}

/** A text or a name in quotes; PostgreSQL has texts with backslashes and in dollars too. */
const quotedEnd = (text: string, at: number, database: DatabaseName): End => {
  const close = (pattern: RegExp): number => endOf(pattern, text, at) ?? -1
  const first = text[at]
  if (first === "'") return close(/'(?:[^']|'')*'/y)
  if (first === '"') return close(/"(?:[^"]|"")*"/y)
  if (database === 'sqlite') {
    if (first === '`') return close(/`(?:[^`]|``)*`/y)
    return first === '[' ? close(/\[[^\]]*\]/y) : undefined
  }
  if (/^e'/i.test(text.slice(at, at + 2))) return close(/e'(?:[^'\\]|''|\\.)*'/isy)
  const tag = first === '$' ? /^\$(?:[\p{L}_][\p{L}\d_]*)?\$/u.exec(text.slice(at, at + 70))?.[0] : undefined
  if (tag === undefined) return undefined
  const end = text.indexOf(tag, at + tag.length)
  return end < 0 ? -1 : end + tag.length
}

/** Returns a function that gives the lines of places, each after the one before. */
const lineCounter = (text: string) => {
  let [counted, line] = [0, 1]
  return (at: number): number => {
    for (let next = text.indexOf('\n', counted); next >= 0 && next < at; next = text.indexOf('\n', counted)) {
      counted = next + 1
      line++
    }
    return line
  }
}

/** A statement with a body that has semicolons: a trigger of SQLite, or a function of PostgreSQL in standard SQL. */
const hasBody = (words: readonly string[], database: DatabaseName): boolean => {
  const head = words.slice(0, 4).join(' ')
  if (database === 'sqlite') return /^CREATE (?:TEMP |TEMPORARY )?TRIGGER\b/.test(head)
  return /^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b/.test(head)
}

/** Returns the statements of a file, or what cannot be read. */
export const splitSql = (text: string, database: DatabaseName): SqlStatement[] | SqlError => {
  const statements: SqlStatement[] = []
  const lineAt = lineCounter(text)
  let [start, end, parentheses, blocks] = [-1, 0, 0, 0]
  let words: string[] = []
  let previous = ''
  const finish = (): void => {
    if (start >= 0) statements.push({ sql: text.slice(start, end), line: lineAt(start), words })
    start = -1
    parentheses = 0
    blocks = 0
    words = []
    previous = ''
  }
  const addWord = (word: string): void => {
    // After a dot it is the name of a column.
    if (previous !== '.' && hasBody(words, database)) {
      const isBegin = database === 'sqlite' ? word === 'BEGIN' : word === 'ATOMIC' && words.at(-1) === 'BEGIN'
      if (isBegin || (word === 'CASE' && (blocks > 0 || database === 'sqlite'))) blocks++
      else if (word === 'END' && blocks > 0) blocks--
    }
    words.push(word)
  }
  for (let at = 0; at < text.length; ) {
    const comment = commentEnd(text, at, database)
    const quote = comment === undefined ? quotedEnd(text, at, database) : undefined
    const skipped = comment ?? endOf(/\s+/y, text, at)
    if (comment === -1 || quote === -1)
      return {
        line: lineAt(at),
        message: comment === -1 ? 'a comment is not closed' : `${text[at]} is not closed`,
      }
    if (skipped !== undefined) {
      at = skipped
      continue
    }
    if (text[at] === ';' && parentheses <= 0 && blocks === 0) {
      finish()
      at++
      continue
    }
    if (start < 0) start = at
    const word = quote === undefined ? endOf(/[\p{L}_][\p{L}\d_$]*/uy, text, at) : undefined
    const number = endOf(/\d[\w.]*/y, text, at)
    if (word !== undefined) addWord(text.slice(at, word).toUpperCase())
    else if (text[at] === '(') parentheses++
    else if (text[at] === ')') parentheses--
    end = quote ?? word ?? number ?? at + 1
    previous = text[end - 1] as string
    at = end
  }
  finish()
  return statements
}

type Rule = readonly [words: RegExp, advice: string]

const isOneTransaction = 'a file is one transaction, which begins and ends with it. Remove the statement.'
const outside = 'it cannot run in the transaction of the file. Run it by hand before or after.'

const rules: readonly Rule[] = [
  // What follows a savepoint is another transaction to PostgreSQL, in which rows cannot be counted.
  [/^(?:BEGIN|START TRANSACTION|COMMIT|END|ABORT|PREPARE TRANSACTION|ROLLBACK|SAVEPOINT|RELEASE)\b/, isOneTransaction],
  [/^VACUUM\b/, outside],
]

const rulesOf: Readonly<Record<DatabaseName, readonly Rule[]>> = {
  sqlite: [[/^(?:PRAGMA|ATTACH|DETACH)\b/, outside]],
  postgres: [
    [
      /^(?:CREATE (?:UNIQUE )?INDEX|DROP INDEX|REINDEX|ALTER TABLE)\b.* CONCURRENTLY\b/,
      'it cannot run in the transaction of the file. Leave out CONCURRENTLY.',
    ],
    [
      /^(?:(?:CREATE|ALTER|DROP) (?:DATABASE|TABLESPACE|SUBSCRIPTION)|ALTER SYSTEM|REINDEX (?:DATABASE|SYSTEM))\b/,
      outside,
    ],
    [/^(?:CLUSTER$|DISCARD\b|COPY\b.* (?:FROM STDIN|TO STDOUT)\b)/, outside],
    [/^(?:SET (?!LOCAL\b|CONSTRAINTS\b)|RESET\b)/, 'it would outlast the transaction of the file. Use SET LOCAL.'],
  ],
}

/** The statements that would end or leave the transaction of their file. */
export const refusedStatements = (statements: readonly SqlStatement[], database: DatabaseName): SqlError[] =>
  statements.flatMap(({ words, line }) => {
    const text = words.join(' ')
    const rule = [...rules, ...rulesOf[database]].find(([pattern]) => pattern.test(text))
    if (!rule) return []
    const isConcurrent = rule[1].includes('CONCURRENTLY')
    const name = isConcurrent ? `${words.slice(0, 2).join(' ')} CONCURRENTLY` : words.slice(0, 2).join(' ')
    return [{ line, message: `${name}: ${rule[1]}` }]
  })

/** The words of a file, quoted or not, without its comments: every table that it names is among them. */
export const wordsIn = (text: string, database: DatabaseName): ReadonlySet<string> => {
  const words = new Set<string>()
  for (let at = 0; at < text.length; ) {
    const comment = commentEnd(text, at, database)
    const end = comment === undefined ? quotedEnd(text, at, database) : undefined
    const part = end === undefined ? endOf(/[^\s'"`[$/-]+|./sy, text, at) : end
    const next = comment ?? part ?? at + 1
    if (comment === undefined)
      for (const [word] of text.slice(at, next).matchAll(/[\p{L}_][\p{L}\d_$]*/gu)) words.add(word.toLowerCase())
    at = next
  }
  return words
}
