/** What an existing table has that its descriptor does not allow for, told so that it can be mended. */
import type { Resource } from '../descriptor/registry.js'

/** A column of an existing table. */
export interface Column {
  readonly name: string
  /** Whether no row can be without it. */
  readonly isFilled: boolean
}

/** Why the table cannot serve; `hasGap` tells whether any row is without a value of a column. */
export const misfitOf = async (
  { table, fields, create, path }: Resource,
  columns: readonly Column[],
  hasGap: (column: string) => Promise<boolean>,
): Promise<string | undefined> => {
  const says = (what: string) => `table "${table}" ${what} (resources/${path}.ts)`
  for (const { name, isFilled } of columns) {
    const field = fields.find((one) => one.name === name)
    if (create && isFilled && name !== 'id' && !field?.required) {
      return says(
        `lets no row be without "${name}", but its descriptor does; alter the table, or require the field again`,
      )
    }
    if (field?.required && !isFilled && (await hasGap(name))) {
      return says(`has rows without "${name}", which its descriptor requires; give them a value first`)
    }
  }
  const required = fields.find((field) => field.required && !columns.some((column) => column.name === field.name))
  return required && says(`has no column "${required.name}", and a required one cannot be added to rows that exist`)
}
