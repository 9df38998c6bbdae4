/** SQL as text with named parameters: fragments join into statements, to which each request binds its values; and the JSON of rows that they return. */
import { createHash } from 'node:crypto'

/** A part of a statement: its texts, and the names of the parameters between them. */
export interface Sql {
  readonly texts: readonly string[]
  readonly parameters: readonly string[]
}

/** A part of a statement; one without parameters may be its text alone. */
export type Fragment = Sql | string

export interface Statement {
  /** The name under which a connection prepares it. */
  readonly name: string
  readonly sql: string
  readonly parameters: readonly string[]
}

/** What is bound for the parameters of a statement, by their names. */
export type Values = Readonly<Record<string, unknown>>

const concat = (fragments: readonly Fragment[]): Sql => {
  const texts: string[] = []
  const parameters: string[] = []
  let last = ''
  for (const fragment of fragments) {
    if (typeof fragment === 'string') {
      last += fragment
      continue
    }
    for (const [n, text] of fragment.texts.entries()) {
      if (n > 0) texts.push(last)
      last = n > 0 ? text : last + text
    }
    parameters.push(...fragment.parameters)
  }
  return { texts: [...texts, last], parameters }
}

/** Joins SQL: strings become part of the text, and fragments bring their parameters. */
export const sql = (texts: TemplateStringsArray, ...fragments: readonly Fragment[]): Sql =>
  concat(texts.flatMap((text, n) => [text, fragments[n] ?? '']))

export const joinSql = (fragments: readonly Fragment[], separator: string): Sql =>
  concat(fragments.flatMap((fragment, n) => (n === 0 ? [fragment] : [separator, fragment])))

/** A named parameter, with its type where the database cannot infer it. */
export const parameter = (name: string, type?: string): Sql =>
  type === undefined ? { texts: ['', ''], parameters: [name] } : sql`cast(${parameter(name)} as ${type})`

/** Makes the function that makes statements of SQL; `placeholder` is how a database writes a parameter, given its place from 1. */
export const compiler =
  (placeholder: (place: number) => string) =>
  (fragment: Fragment): Statement => {
    const { texts, parameters } = concat([fragment])
    const text = texts.map((part, n) => (n === 0 ? part : placeholder(n) + part)).join('')
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 20)
    return { name, sql: text, parameters }
  }

/** The values of a statement's parameters; a missing one is null. Both databases take 1 and 0 for a boolean. */
export const bind = ({ parameters }: Statement, values: Values): unknown[] =>
  parameters.map((name) => values[name] ?? null)

/** Values as a JSON array; not by JSON.stringify(), because integers may exceed 2^53. */
export const jsonList = (values: readonly unknown[]): string => {
  const json = (value: unknown): string => {
    if (Array.isArray(value)) return jsonList(value)
    return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  }
  return `[${values.map(json).join()}]`
}

/** JSON as a driver returned it, possibly through a thread. */
export const toBuffer = (cell: unknown): Buffer =>
  cell instanceof Uint8Array ? Buffer.from(cell.buffer, cell.byteOffset, cell.length) : Buffer.from(String(cell ?? ''))

/** The tag of a row: a digest of its JSON, so that it changes with this row alone. */
export const rowTag = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url').slice(0, 22)
