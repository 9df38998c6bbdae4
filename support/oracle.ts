/** A model of the service in plain JavaScript: its rows, the rules of their values, and the expected response to a list or a write. */

import { fromUnits } from '../engine/descriptor/decimals.js'
import { expandableFields } from '../engine/descriptor/expansion.js'
import { isExact, isWhole, kindOf, type ParameterValue } from '../engine/descriptor/kinds/index.js'
import {
  type Condition,
  possibleConditions,
  possibleOrders,
  type Selection,
  textKey,
} from '../engine/descriptor/listQuery.js'
import { type Operand, type OperatorName, operatorOf } from '../engine/descriptor/operators.js'
import {
  type Field,
  type GivenValue,
  type Reference,
  type Registry,
  type Resource,
  type RowValues,
  referencesTo,
  searchedFields,
  type Value,
} from '../engine/descriptor/registry.js'
import { type Aggregate, aggregatedFields, aggregates, possibleGroups } from '../engine/descriptor/summary.js'
import { Violation } from '../engine/descriptor/violations.js'
import { fold } from '../engine/storage/caseFold.js'

/** A query parameter as it is sent. */
export interface Parameter {
  readonly name: string
  /** The percent-encoded value. */
  readonly written: string
  /** The value of an integer parameter; undefined if it is invalid. */
  readonly integer?: bigint | undefined
}

/** The text that `q` is searched in. */
export const searchedText = (resource: Resource, row: RowValues): string =>
  searchedFields(resource)
    .flatMap(({ name }) => row[name] ?? [])
    .join(' ')

/** What a value is compared by: integers of parameters have any size, and a decimal is a number of its smallest units. */
const comparable = (field: Field, value: ParameterValue | null): ParameterValue | null => {
  if (value === null || typeof value === 'boolean') return value
  if (isWhole(field)) return BigInt(value)
  return field.digits !== undefined ? BigInt(String(value).replace('.', '')) : value
}

interface IndexedRow {
  readonly row: RowValues
  readonly folded: string
}

const indexed = (resource: Resource, row: RowValues): IndexedRow => ({ row, folded: fold(searchedText(resource, row)) })

/** The expected page, or the parameters that must be rejected. */
export type ExpectedList =
  | { readonly rejected: readonly string[] }
  | {
      readonly data: readonly RowValues[]
      /** The rows of all pages. */
      readonly all: readonly RowValues[]
      readonly total: number
      readonly limit: bigint
      readonly offset: bigint
    }

/** Replaces all digits, so that timestamps of different moments are equal. */
const withoutDigits = (value: unknown): string => String(value).replaceAll(/\d/g, '9')

const bounds: Record<string, { min: bigint; max?: bigint }> = {
  limit: { min: 1n, max: 200n },
  offset: { min: 0n },
}

/** A decimal as a number of its smallest units, also one that is written without its places. */
const unitsOf = (decimal: string, { places = 0 }: Field): bigint => {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(`${whole}${fraction.slice(0, places).padEnd(places, '0')}`)
}

/** The type of the issue for a value of the right kind that breaks a rule of its field. */
export const brokenRule = (field: Field, value: GivenValue): string | undefined => {
  const { oneOf, min, max, minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern = '[^]*' } = field
  const order = (bound: GivenValue) => {
    if (field.digits !== undefined) return unitsOf(String(bound), field)
    return typeof bound === 'string' ? Date.parse(bound) : Number(bound)
  }
  // A JSON value has no rules, and may have a member named toString.
  if (typeof value === 'object') return undefined
  const { length } = [...String(value)]
  if (oneOf && !oneOf.includes(value)) return 'enum'
  if (min !== undefined && order(value) < order(min)) return 'greater_than_equal'
  if (max !== undefined && order(value) > order(max)) return 'less_than_equal'
  if (length < minLength) return 'string_too_short'
  if (length > maxLength) return 'string_too_long'
  return new RegExp(`^(?:${pattern})$`, 'u').test(String(value)) ? undefined : 'string_pattern_mismatch'
}

/** Negative, zero or positive; texts are compared by code point, as both databases do. */
const compareValues = (a: ParameterValue, b: ParameterValue): number => {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}

const comparison =
  (holds: (difference: number) => boolean) =>
  (stored: ParameterValue | null, value: Operand): boolean =>
    stored !== null && holds(compareValues(stored, value as ParameterValue))

/** What each operator means, apart from its SQL. */
const comparisons: Readonly<Record<OperatorName, (stored: ParameterValue | null, value: Operand) => boolean>> = {
  eq: (stored, value) => stored === value,
  in: (stored, value) => (value as readonly unknown[]).includes(stored),
  null: (stored, isNull) => (stored === null) === isNull,
  gte: comparison((difference) => difference >= 0),
  gt: comparison((difference) => difference > 0),
  lte: comparison((difference) => difference <= 0),
  lt: comparison((difference) => difference < 0),
}

export type ExpectedSummary =
  | { readonly rejected: readonly string[] }
  | { readonly data: readonly object[]; readonly meta: object }

/** The value of a row that a summary groups it by. */
const groupValue = (name: string, row: RowValues): Value => {
  const [field = '', part] = name.split('.')
  const value = row[field] ?? null
  if (part === undefined || value === null) return value
  const day = String(value).slice(0, 10)
  const time = new Date(`${day}T00:00:00Z`)
  const isDate = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(+time) && time.toISOString().startsWith(day)
  return isDate && !day.startsWith('0000') ? String(value).slice(0, { year: 4, month: 7, day: 10 }[part]) : null
}

/** What a summary computes of the rows of a group. */
const aggregated = (field: Field, aggregate: Aggregate, rows: readonly RowValues[]): Value => {
  const values = rows.flatMap((row) => row[field.name] ?? [])
  if (values.length === 0) return null
  if (aggregate === 'min' || aggregate === 'max') {
    const keys = values.map((value) => (kindOf(field.kind).isText ? textKey(String(value)) : value))
    const sorted = keys.toSorted((a, b) =>
      compareValues(
        comparable(field, a as ParameterValue) as ParameterValue,
        comparable(field, b as ParameterValue) as ParameterValue,
      ),
    )
    return sorted.at(aggregate === 'min' ? 0 : -1) as Value
  }
  if (!isExact(field)) {
    const sum = values.reduce<number>((total, value) => total + Number(value), 0)
    return aggregate === 'sum' ? sum : sum / values.length
  }
  const sum = values.reduce<bigint>((total, value) => total + BigInt(String(value).replace('.', '')), 0n)
  if (isWhole(field)) return aggregate === 'sum' ? Number(sum) : Number(sum) / values.length
  const { places = 0 } = field
  if (aggregate === 'sum') return fromUnits(sum, { places })
  const count = BigInt(values.length)
  const size = (sum < 0n ? -sum : sum) * 100n
  const quotient = size / count + ((size % count) * 2n >= count ? 1n : 0n)
  return fromUnits(sum < 0n ? -quotient : quotient, { places: places + 2 })
}

export class Oracle {
  readonly #rows = new Map<Resource, IndexedRow[]>()
  readonly #ids = new Map<string, number[]>()

  /** Adds rows in the order of their ids. */
  add(resource: Resource, rows: readonly RowValues[]): void {
    const stored = this.#rows.get(resource) ?? []
    const ids = this.#ids.get(resource.path) ?? []
    for (const row of rows) {
      stored.push(indexed(resource, row))
      ids.push(Number(row['id']))
    }
    this.#rows.set(resource, stored)
    this.#ids.set(resource.path, ids)
  }

  /** Replaces a row; undefined removes it. */
  #set(resource: Resource, id: number, row: RowValues | undefined): void {
    const [rows = [], ids = []] = [this.#rows.get(resource), this.#ids.get(resource.path)]
    const index = ids.indexOf(id)
    rows.splice(index, 1, ...(row ? [indexed(resource, row)] : []))
    ids.splice(index, 1, ...(row ? [id] : []))
  }

  update(resource: Resource, row: RowValues): void {
    this.#set(resource, Number(row['id']), row)
  }

  /** A delete of a row: the references that prevent it, and what else it does to the rows. */
  deletion(registry: Registry, resource: Resource, id: number): { preventedBy: string[]; apply: () => void } {
    const deleted = [{ resource, id }]
    const isDeleted = (source: Resource, rowId: unknown) =>
      deleted.some((deletion) => deletion.resource === source && deletion.id === rowId)
    const references: (Reference & { readonly id: number })[] = []
    for (const target of deleted) {
      for (const { resource: source, field } of referencesTo(registry, target.resource.path)) {
        for (const { row } of this.#rows.get(source) ?? []) {
          if (row[field.name] !== target.id) continue
          const reference = { resource: source, field, id: Number(row['id']) }
          if (field.onDelete !== 'cascade') references.push(reference)
          else if (!isDeleted(source, reference.id)) deleted.push(reference)
        }
      }
    }
    const remaining = references.filter((reference) => !isDeleted(reference.resource, reference.id))
    const preventing = remaining.filter(({ field }) => field.onDelete !== 'set null')
    const apply = () => {
      for (const { resource: source, field, id: rowId } of remaining)
        this.update(source, { ...this.row(source, rowId), [field.name]: null })
      for (const target of deleted) this.#set(target.resource, target.id, undefined)
    }
    return {
      preventedBy: [...new Set(preventing.map((reference) => `${reference.resource.path} ${reference.field.name}`))],
      apply,
    }
  }

  ids(path: string): readonly number[] {
    return this.#ids.get(path) ?? []
  }

  /** The first and the last rows, to derive queries from. */
  someRows(resource: Resource): readonly RowValues[] {
    const indexed = this.#rows.get(resource) ?? []
    return [...indexed.slice(0, 30), ...indexed.slice(-30)].map(({ row }) => row)
  }

  row(resource: Resource, id: number): RowValues | undefined {
    return this.#rows.get(resource)?.find(({ row }) => row['id'] === id)?.row
  }

  /** The rows that a list has, of all its pages. */
  matching(resource: Resource, { where, search, order }: Selection): readonly RowValues[] {
    const text = fold(search)
    const fields = new Map(resource.fields.map((field) => [field.name, field]))
    const satisfies = (row: RowValues, { field, operator, value }: Condition): boolean => {
      const { option, operand } = operatorOf(operator)
      const matches = comparisons[operator]
      const described = fields.get(field) as Field
      const stored = comparable(described, (row[field] ?? null) as ParameterValue | null)
      const operands = [value].flat().map((operandValue) => comparable(described, operandValue) as ParameterValue)
      const sought = operand === 'list' ? operands : (operands[0] as ParameterValue)
      return matches(option === 'range' && typeof stored === 'string' ? textKey(stored) : stored, sought)
    }
    const key = (row: RowValues) => {
      const value = comparable(fields.get(order.field) as Field, (row[order.field] ?? null) as ParameterValue | null)
      return typeof value === 'string' ? textKey(value) : value
    }
    const compare = (a: RowValues, b: RowValues): number => {
      const [left, right] = [key(a), key(b)]
      if (left === null || right === null) return Number(left !== null) - Number(right !== null)
      return compareValues(left, right)
    }
    const sign = order.descending ? -1 : 1
    return (this.#rows.get(resource) ?? [])
      .filter(({ row, folded }) => folded.includes(text) && where.every((condition) => satisfies(row, condition)))
      .map(({ row }) => row)
      .sort((a, b) => sign * (compare(a, b) || compareValues(a['id'] as ParameterValue, b['id'] as ParameterValue)))
  }

  /** The row with the rows that some of its fields reference. */
  #expanded(row: RowValues, fields: readonly Field[]): RowValues {
    if (fields.length === 0) return row
    const paths = new Map([...this.#rows.keys()].map((resource) => [resource.path, resource]))
    const expanded = fields.map(({ name, references }) => {
      const target = paths.get(String(references)) as Resource
      return [name, (row[name] ?? null) === null ? null : (this.row(target, Number(row[name])) ?? null)]
    })
    return { ...row, expanded: Object.fromEntries(expanded) }
  }

  /** The expected response to a list with these parameters. */
  list(resource: Resource, parameters: readonly Parameter[]): ExpectedList {
    // Of a repeated parameter the last one counts, except in a list.
    const decode = (written: string) => new URLSearchParams(`x=${written}`).get('x') ?? ''
    const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]))
    const rejected: string[] = []
    const where: Condition[] = []
    for (const [name, { min, max }] of Object.entries(bounds)) {
      const parameter = byName.get(name)
      if (!parameter) continue
      const { integer } = parameter
      if (integer === undefined || integer < min || (max !== undefined && integer > max)) rejected.push(name)
    }
    const sort = byName.get('sort')?.written ?? 'id'
    if (!possibleOrders(resource).includes(sort)) rejected.push('sort')
    const expandable = expandableFields(resource)
    const expand = parameters.filter(({ name }) => name === 'expand' && expandable.length > 0)
    for (const { written } of expand) if (!expandable.some(({ name }) => name === written)) rejected.push('expand')
    for (const { field, operator, parameter: name } of possibleConditions(resource)) {
      const { operand, option } = operatorOf(operator)
      const { kind, oneOf } = field
      const values: ParameterValue[] = []
      const named = parameters.filter((parameter) => parameter.name === name)
      for (const { written, integer } of operand === 'list' ? named : named.slice(-1)) {
        const text = decode(written)
        const parsed = operand === 'boolean' ? kindOf('boolean').parse(text, {}) : kindOf(kind).parse(text, field)
        const value = isWhole(field) && operand !== 'boolean' ? integer : parsed
        const isAllowed =
          !oneOf || operand === 'boolean' || option === 'range' || oneOf.map(String).includes(String(value))
        const isStored = option !== 'range' || typeof value !== 'string' || !value.includes('\0')
        if (value === undefined || value instanceof Violation || !isAllowed || !isStored) rejected.push(name)
        else values.push(option === 'range' && typeof value === 'string' ? textKey(value) : value)
      }
      const [value] = values
      if (value !== undefined) where.push({ field: field.name, operator, value: operand === 'list' ? values : value })
    }
    if (rejected.length > 0) return { rejected }
    const rows = this.matching(resource, {
      where,
      search: decode(byName.get('q')?.written ?? '').trim(),
      order: { field: sort.replace('-', ''), descending: sort.startsWith('-') },
    })
    const limit = byName.get('limit')?.integer ?? 50n
    const offset = byName.get('offset')?.integer ?? 0n
    const start = offset > BigInt(rows.length) ? rows.length : Number(offset)
    const references = expandable.filter(({ name }) => expand.some(({ written }) => written === name))
    const data = rows.slice(start, start + Number(limit)).map((row) => this.#expanded(row, references))
    return { data, all: rows, total: rows.length, limit, offset }
  }

  /** The expected response to a summary with these parameters. */
  summary(resource: Resource, parameters: readonly Parameter[]): ExpectedSummary {
    const namesOf = (parameter: string) =>
      parameters.filter(({ name }) => name === parameter).map(({ written }) => written)
    const ofList = this.list(
      resource,
      parameters.filter(({ name }) => !['sort', 'offset', 'after', 'expand', 'by', ...aggregates].includes(name)),
    )
    const groups = possibleGroups(resource).map(({ name }) => name)
    const by = namesOf('by')
    const rejected = by.length > 2 ? ['by'] : []
    rejected.push(...by.slice(0, 2).flatMap((name) => (groups.includes(name) ? [] : ['by'])))
    const computed = aggregates.flatMap((aggregate) => {
      const possible = aggregatedFields(resource, aggregate)
      rejected.push(...namesOf(aggregate).flatMap((name) => (possible.includes(name) ? [] : [aggregate])))
      const fields = resource.fields.filter(({ name }) => possible.includes(name) && namesOf(aggregate).includes(name))
      return fields.length > 0 ? [{ aggregate, fields }] : []
    })
    if ('rejected' in ofList) rejected.push(...ofList.rejected)
    if ('rejected' in ofList || rejected.length > 0) return { rejected }
    const rowsByGroup = new Map<string, RowValues[]>()
    for (const row of ofList.all) {
      const key = JSON.stringify([...new Set(by)].map((name) => [name, groupValue(name, row)]))
      rowsByGroup.set(key, [...(rowsByGroup.get(key) ?? []), row])
    }
    if (by.length === 0) rowsByGroup.set('[]', [...ofList.all])
    const fieldOf = (name: string) => resource.fields.find((field) => field.name === name.split('.')[0]) as Field
    const compareBy = (a: [string, Value][], b: [string, Value][]): number =>
      a.reduce((order, [name, value], n) => {
        const [left, right] = [value, b[n]?.[1] ?? null].map((groupBy) =>
          name.includes('.') ? groupBy : comparable(fieldOf(name), groupBy as ParameterValue | null),
        ) as [ParameterValue | null, ParameterValue | null]
        if (order !== 0 || left === right) return order
        return left === null ? -1 : right === null ? 1 : compareValues(left, right)
      }, 0)
    const rowGroups = [...rowsByGroup]
      .map(([key, rows]) => ({ by: JSON.parse(key) as [string, Value][], rows }))
      .sort((a, b) => b.rows.length - a.rows.length || compareBy(a.by, b.by))
    const data = rowGroups.slice(0, Number(ofList.limit)).map(({ by: values, rows }) => ({
      by: Object.fromEntries(values),
      count: rows.length,
      ...Object.fromEntries(
        computed.map(({ aggregate, fields }) => [
          aggregate,
          Object.fromEntries(fields.map((field) => [field.name, aggregated(field, aggregate, rows)])),
        ]),
      ),
    }))
    return { data, meta: { total: rowGroups.length, limit: Number(ofList.limit), rows: ofList.total } }
  }

  /** The fields of a row that must be unique, but equal another row's. */
  duplicates(resource: Resource, row: RowValues): string[] {
    return resource.fields
      .filter(({ name, unique }) => {
        const names = unique ? [...unique, name] : []
        return (
          names.length > 0 &&
          names.every((member) => row[member] !== null) &&
          this.#rows
            .get(resource)
            ?.some(
              (other) => other.row['id'] !== row['id'] && names.every((member) => other.row[member] === row[member]),
            )
        )
      })
      .map(({ name }) => name)
  }
}

/** The row that a valid body makes of a new row, whose id is null, or of an existing one. */
export const expectedRow = (
  resource: Resource,
  given: Readonly<Record<string, Value>>,
  before: RowValues | undefined,
): RowValues =>
  Object.fromEntries(
    resource.fields.map((field): [string, Value] => {
      const { name, kind, managed, redacted, required } = field
      const isTime = kindOf(kind).input === 'datetime-local'
      const value = Object.hasOwn(given, name) && !managed ? (given[name] ?? null) : undefined
      if (redacted || (name === 'id' && !before)) return [name, null]
      if (value !== undefined && (value !== null || !required))
        return [name, isTime && value !== null ? new Date(String(value)).toISOString() : value]
      if (before) return [name, before[name] ?? null]
      const source = managed ? (managed === true ? null : managed) : (field.default ?? null)
      return [name, typeof source === 'function' ? source() : source]
    }),
  )

/** JSON is equal if its text is; a zero has no sign in JSON. */
const isSameValue = (a: Value | undefined, b: Value | undefined): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))

/** The first difference between a stored row and the expected one; values from the clock are compared by format only. */
export const rowMismatch = (
  resource: Resource,
  given: Readonly<Record<string, Value>>,
  before: RowValues | undefined,
  stored: RowValues,
): string | undefined => {
  const expected = expectedRow(resource, given, before)
  const names = resource.fields.map(({ name }) => name)
  if (JSON.stringify(Object.keys(stored)) !== JSON.stringify(names)) return `the fields are ${Object.keys(stored)}`
  const isChanged = names.some((name) => !isSameValue(expected[name], before?.[name]))
  const differing = resource.fields.find(({ name, managed, default: preset, onUpdate }) => {
    if (isSameValue(expected[name], stored[name]) || (name === 'id' && !before)) return false
    const source = before ? isChanged && onUpdate : (managed ?? preset)
    const isFromClock = typeof source === 'function' && (managed || !(given[name] ?? null))
    return !isFromClock || withoutDigits(stored[name]) !== withoutDigits(expected[name])
  })
  return differing?.name
}
