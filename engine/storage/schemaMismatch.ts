/** Finds contradictions between an existing table and its descriptor. */
import type { Resource } from '../descriptor/registry.js'

/** A column of an existing table. */
export interface Column {
  readonly name: string
  readonly isNotNull: boolean
}

/** The columns that the descriptor requires and that may be null: whether any row has a null there must be checked. */
export const unverifiedNotNull = ({ fields }: Resource, columns: readonly Column[]): string[] =>
  columns
    .filter(({ name, isNotNull }) => !isNotNull && fields.some((field) => field.name === name && field.required))
    .map(({ name }) => name)

/** Why the table cannot be served, if so; `withNulls` are the unverified columns that hold a null. */
export const schemaMismatch = (
  { table, fields, create, path }: Resource,
  columns: readonly Column[],
  withNulls: readonly string[],
): string | undefined => {
  const problem = (what: string) => `table "${table}" (resources/${path}.ts): ${what}`
  const field = (name: string) => fields.find((one) => one.name === name)
  const strict = columns.find(({ name, isNotNull }) => create && isNotNull && name !== 'id' && !field(name)?.required)
  if (strict) {
    return problem(
      `column "${strict.name}" is NOT NULL, but the descriptor does not require it. Alter the table, or add "${strict.name}" to required.`,
    )
  }
  const [nullable] = withNulls
  if (nullable)
    return problem(`the descriptor requires "${nullable}", but some rows have no value. Set their value first.`)
  const missing = fields.find(({ name, required }) => required && !columns.some((column) => column.name === name))
  return (
    missing &&
    problem(`column "${missing.name}" does not exist, and a required column cannot be added to existing rows.`)
  )
}
