/** Finds values that a column of another program's table would round, such as 1.239 of numeric(10,2). */
import type { Field, Resource, RowValues, Value } from '../../descriptor/registry.js'
import { type CatalogueTable, findColumn } from '../migration/catalogue.js'
import type { Refused } from '../writeData.js'

const isRoundedNumber = (type: string, value: number): boolean => {
  const [, places] = /^numeric\(\d+,(\d+)\)/.exec(type) ?? []
  if (places !== undefined) return Number(value.toFixed(Math.min(Number(places), 100))) !== value
  const single = Math.fround(value)
  // A real has about seven digits: 0.1 is one, although its double differs.
  return type === 'real' && single !== value && Number(single.toPrecision(7)) !== value
}

const isRoundedTime = (type: string, time: string): boolean => {
  const [, places] = /^timestamp\(([0-2])\)/.exec(type) ?? []
  const [, milliseconds = ''] = /\.(\d+)Z$/.exec(time) ?? []
  return places !== undefined && /[1-9]/.test(milliseconds.slice(Number(places)))
}

/** The clock has milliseconds, whatever the column keeps of them. */
const hasClock = ({ managed, onUpdate, default: preset }: Field): boolean =>
  [managed, onUpdate, preset].some((source) => typeof source === 'function')

const isRounded = (field: Field, type: string, value: Value | undefined): boolean => {
  if (field.kind === 'number' && typeof value === 'number') return isRoundedNumber(type, value)
  return field.kind === 'timestamp' && typeof value === 'string' && !hasClock(field) && isRoundedTime(type, value)
}

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
