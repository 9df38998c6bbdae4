/** Finds values that a column of another program's table would round, such as 1.239 of numeric(10,2). */
import { isMoment } from '../../descriptor/kinds/index.js'
import type { Field, Resource, RowValues, Value } from '../../descriptor/registry.js'
import { type CatalogueTable, findColumn } from '../migration/catalogue.js'
import type { Refused } from '../writeData.js'
import { columnOf } from './schema.js'

/** The clock has milliseconds, whatever the column keeps of them. */
const hasClock = ({ managed, onUpdate, default: preset }: Field): boolean =>
  [managed, onUpdate, preset].some((source) => typeof source === 'function')

const isRounded = (field: Field, type: string, value: Value | undefined): boolean =>
  !(isMoment(field) && hasClock(field)) && columnOf(field).isRounded?.(type, value) === true

export const findRounded =
  ({ fields }: Resource, table: CatalogueTable | undefined) =>
  (values: RowValues): Refused | undefined => {
    for (const field of fields) {
      const { name, column } = field
      const { type = '' } = (table && findColumn(table, column)) ?? {}
      if (isRounded(field, type, values[name]))
        return { constraint: type, column, reason: `${name} is ${type}, which would round ${values[name]}` }
    }
    return undefined
  }
