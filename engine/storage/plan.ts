/** How the rows of a list are found, as data for every database. */
import type { ParameterValue } from '../descriptor/kinds.js'
import { type Condition, type ListQuery, type Selection, selectionKey } from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'

export interface Plan extends Selection {
  /** No row can match; all rows match; the filters, the search index or a scan of the table finds those that do. */
  readonly strategy: 'nothing' | 'all' | 'filter' | 'search' | 'scan'
}

export const maxInteger = 2n ** 63n - 1n

/** Whether no column can store the value: a NUL, or an integer that is too large. */
const isUnstorable = (value: ParameterValue): boolean =>
  typeof value === 'bigint'
    ? value > maxInteger || value < -maxInteger
    : typeof value === 'string' && value.includes('\0')

const clamped = (value: bigint): bigint => (value > maxInteger ? maxInteger : value < -maxInteger ? -maxInteger : value)

/** The condition with a value that a database takes; undefined if no row can match it. */
const storable = (condition: Condition): Condition | undefined => {
  const { operator, value } = condition
  if (typeof value === 'object') {
    const values = value.filter((one) => !isUnstorable(one))
    return values.length > 0 ? { ...condition, value: values } : undefined
  }
  if (!isUnstorable(value)) return condition
  if (typeof value !== 'bigint' || operatorOf(operator).option !== 'range') return undefined
  return { ...condition, value: clamped(value) }
}

/** Plans a read; `isIndexed` says whether the search index can find a text. */
export const planRead = ({ where: given, search, order }: Selection, isIndexed: (text: string) => boolean): Plan => {
  const where = given.flatMap((condition) => storable(condition) ?? [])
  const strategy = (): Plan['strategy'] => {
    if (isUnstorable(search) || where.length < given.length) return 'nothing'
    if (search === '') return where.length === 0 ? 'all' : 'filter'
    return isIndexed(search) ? 'search' : 'scan'
  }
  return { where, search, order, strategy: strategy() }
}

export const emptyPage = ({ limit, offset }: ListQuery['page']): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

export const listKey = (query: ListQuery): string => {
  const { limit, offset, after } = query.page
  const place = after
    ? `${offset} ${after.id} ${after.value === null ? '' : JSON.stringify(String(after.value))}`
    : offset
  return `${limit}&${place}&${selectionKey(query)}`
}
