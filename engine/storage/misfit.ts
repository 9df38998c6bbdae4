/** What an existing table has that its descriptor does not allow for, told so that it can be mended. */
import type { Resource } from '../descriptor/registry.js'

/** A column of an existing table. */
export interface Column {
  readonly name: string
  /** Whether no row can be without it. */
  readonly isFilled: boolean
}

/** The columns that a row may be without and that the descriptor requires: whether any row is has to be looked at. */
export const doubtful = ({ fields }: Resource, columns: readonly Column[]): string[] =>
  columns
    .filter(({ name, isFilled }) => !isFilled && fields.some((field) => field.name === name && field.required))
    .map(({ name }) => name)

/** Why the table cannot serve; `unfilled` are those of the doubtful columns that a row is without. */
export const misfitOf = (
  { table, fields, create, path }: Resource,
  columns: readonly Column[],
  unfilled: readonly string[],
): string | undefined => {
  const says = (what: string) => `table "${table}" ${what} (resources/${path}.ts)`
  const field = (name: string) => fields.find((one) => one.name === name)
  const strict = columns.find(({ name, isFilled }) => create && isFilled && name !== 'id' && !field(name)?.required)
  if (strict) {
    return says(
      `lets no row be without "${strict.name}", but its descriptor does; alter the table, or require the field again`,
    )
  }
  const [gap] = unfilled
  if (gap) return says(`has rows without "${gap}", which its descriptor requires; give them a value first`)
  const required = fields.find(({ name, required: is }) => is && !columns.some((column) => column.name === name))
  return required && says(`has no column "${required.name}", and a required one cannot be added to rows that exist`)
}
