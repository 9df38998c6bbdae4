/** The short form of the projects of the zoo. */
import type { Descriptor, Fields, Rule } from '../../engine/descriptor/define.js'
import type { RowValues } from '../../engine/descriptor/registry.js'

/** A resource with its demo rows. What is not said: all clients may do everything, and every field is optional. */
export interface Animal extends Partial<Omit<Descriptor, 'fields' | 'rules'>> {
  readonly fields: Fields
  readonly rules?: readonly Rule<never>[]
  readonly demo?: readonly RowValues[]
}

/** The resources of a project by path. */
export type Animals = Readonly<Record<string, Animal>>

/** A rule between fields. */
export const rule = (
  fields: readonly string[],
  holds: (...values: never[]) => boolean,
  message: string,
): Rule<never> => ({
  fields: fields as never,
  holds: (row) => holds(...(fields.map((name) => row[name]) as never[])),
  message,
})
