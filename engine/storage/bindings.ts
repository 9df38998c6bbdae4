/** SQL that knex builds once, with named parameters that each request binds. */
import { createHash } from 'node:crypto'
import type { Knex } from 'knex'

class Binding {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export interface Statement {
  /** The name under which a connection prepares it. */
  readonly name: string
  readonly sql: string
  readonly parameters: readonly string[]
}

/** What is bound for the parameters of a statement, by their names. */
export type Values = Readonly<Record<string, unknown>>

/** A named parameter as a fragment: knex would turn a bare object into JSON in some places. */
export const parameter = (knex: Knex, name: string, type?: string): Knex.Raw =>
  knex.raw(type ? `cast(? as ${type})` : '?', [new Binding(name) as unknown as string])

/** A named parameter in the text of SQL, which `sqlTag` binds. */
export const inText = (name: string, type?: string): string =>
  type ? `cast(\uE000${name}\uE000 as ${type})` : `\uE000${name}\uE000`

const parameterInText = /\uE000([^\uE000]*)\uE000/g

export const compile = (query: Knex.QueryBuilder | Knex.Raw): Statement => {
  const { sql, bindings } = query.toSQL().toNative()
  const parameters = bindings.map((binding) => {
    if (binding instanceof Binding) return binding.name
    throw new TypeError(`the statement binds the value ${String(binding)}; use a named parameter`)
  })
  // SQLite's client leaves the backslash with which knex escapes a question mark in a name.
  const text = sql.replaceAll('\\?', '?')
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 20)
  return { name, sql: text, parameters }
}

/** The values of a statement's parameters; a missing one is null. Both databases take 1 and 0 for a boolean. */
export const bind = ({ parameters }: Statement, values: Values): unknown[] =>
  parameters.map((name) => values[name] ?? null)

/** Makes the template tag that joins SQL: texts become part of it, and fragments bring their parameters. */
export const sqlTag = (knex: Knex) => {
  type Fragment = Knex.Raw | string
  const tag = (texts: TemplateStringsArray, ...fragments: readonly Fragment[]): Knex.Raw => {
    const bindings: unknown[] = []
    // With a space, because knex takes two question marks for an identifier.
    const bound = (binding: unknown) => {
      bindings.push(binding)
      return '? '
    }
    const text = texts.map((before, n) => {
      const fragment = fragments[n]
      if (fragment === undefined) return before
      if (typeof fragment !== 'string') return before + bound(fragment)
      return before + fragment.replace(parameterInText, (_, name: string) => bound(new Binding(name)))
    })
    return knex.raw(text.join(''), bindings as never)
  }
  return Object.assign(tag, {
    join: (fragments: readonly Knex.Raw[], separator: string): Knex.Raw =>
      knex.raw(fragments.map(() => '?').join(separator), fragments as never),
  })
}

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
