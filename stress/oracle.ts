/** A model of the service in plain JavaScript: its rows, and the expected response to a list or a create. */
import { kindOf, type ParameterValue, Refusal } from '../engine/descriptor/kinds.js'
import {
  type Condition,
  possibleConditions,
  possibleOrders,
  type Selection,
  textKey,
} from '../engine/descriptor/listQuery.js'
import { compareValues, operatorOf } from '../engine/descriptor/operators.js'
import { type Resource, type RowValues, searchedFields, type Value } from '../engine/descriptor/registry.js'
import { fold } from '../engine/storage/caseFold.js'
import type { Parameter } from './arbitraryQueries.js'

interface IndexedRow {
  readonly row: RowValues
  readonly folded: string
}

/** The expected page, or the parameters that must be rejected. */
export type ExpectedList =
  | { readonly rejected: readonly string[] }
  | { readonly data: readonly RowValues[]; readonly total: number; readonly limit: bigint; readonly offset: bigint }

/** Replaces all digits, so that timestamps of different moments are equal. */
const withoutDigits = (value: unknown): string => String(value).replaceAll(/\d/g, '9')

const bounds: Record<string, { min: bigint; max?: bigint }> = {
  limit: { min: 1n, max: 200n },
  offset: { min: 0n },
}

export class Oracle {
  readonly #rows = new Map<Resource, IndexedRow[]>()
  readonly #ids = new Map<string, number[]>()

  /** Adds rows in the order of their ids. */
  add(resource: Resource, rows: readonly RowValues[]): void {
    const indexed = this.#rows.get(resource) ?? []
    const ids = this.#ids.get(resource.path) ?? []
    const textOf = (row: RowValues) =>
      searchedFields(resource)
        .flatMap(({ name }) => row[name] ?? [])
        .join(' ')
    for (const row of rows) {
      indexed.push({ row, folded: fold(textOf(row)) })
      ids.push(Number(row['id']))
    }
    this.#rows.set(resource, indexed)
    this.#ids.set(resource.path, ids)
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
    const kindsOfFields = new Map(resource.fields.map(({ name, kind }) => [name, kind]))
    const satisfies = (row: RowValues, { field, operator, value }: Condition): boolean => {
      const { matches, option } = operatorOf(operator)
      const stored = row[field] ?? null
      // Integers of parameters have any size.
      if (stored !== null && kindsOfFields.get(field) === 'integer') return matches(BigInt(stored), value)
      return matches(option === 'range' && typeof stored === 'string' ? textKey(stored) : stored, value)
    }
    const key = (row: RowValues) => {
      const value = row[order.field] ?? null
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
      .sort((a, b) => sign * (compare(a, b) || Number(a['id']) - Number(b['id'])))
  }

  /** The expected response to a list with these parameters. */
  list(resource: Resource, parameters: readonly Parameter[]): ExpectedList {
    // Of a repeated parameter the last one counts, except in a list.
    const decode = (written: string) => new URLSearchParams(`x=${written}`).get('x') ?? ''
    const given = new Map(parameters.map((parameter) => [parameter.name, parameter]))
    const rejected: string[] = []
    const where: Condition[] = []
    for (const [name, { min, max }] of Object.entries(bounds)) {
      const parameter = given.get(name)
      if (!parameter) continue
      const { integer } = parameter
      if (integer === undefined || integer < min || (max !== undefined && integer > max)) rejected.push(name)
    }
    const sort = given.get('sort')?.written ?? 'id'
    if (!possibleOrders(resource).includes(sort)) rejected.push('sort')
    for (const { field, operator, parameter: name } of possibleConditions(resource)) {
      const { takes, option } = operatorOf(operator)
      const { kind, oneOf } = field
      const values: ParameterValue[] = []
      const sent = parameters.filter((parameter) => parameter.name === name)
      for (const { written, integer } of takes === 'list' ? sent : sent.slice(-1)) {
        const text = decode(written)
        const parsed = takes === 'boolean' ? kindOf('boolean').parse(text) : kindOf(kind).parse(text)
        const value = kind === 'integer' && takes !== 'boolean' ? integer : parsed
        const isAllowed =
          !oneOf || takes === 'boolean' || option === 'range' || oneOf.map(String).includes(String(value))
        const isStored = option !== 'range' || typeof value !== 'string' || !value.includes('\0')
        if (value === undefined || value instanceof Refusal || !isAllowed || !isStored) rejected.push(name)
        else values.push(option === 'range' && typeof value === 'string' ? textKey(value) : value)
      }
      const [value] = values
      if (value !== undefined) where.push({ field: field.name, operator, value: takes === 'list' ? values : value })
    }
    if (rejected.length > 0) return { rejected }
    const found = this.matching(resource, {
      where,
      search: decode(given.get('q')?.written ?? '').trim(),
      order: { field: sort.replace('-', ''), descending: sort.startsWith('-') },
    })
    const limit = given.get('limit')?.integer ?? 50n
    const offset = given.get('offset')?.integer ?? 0n
    const start = offset > BigInt(found.length) ? found.length : Number(offset)
    const data = found.slice(start, start + Number(limit))
    return { data, total: found.length, limit, offset }
  }

  /** The fields of a new row that must be unique, but equal another row's. */
  duplicates(resource: Resource, row: RowValues): string[] {
    return resource.fields
      .filter(({ name, unique }) => {
        const names = unique ? [...unique, name] : []
        return (
          names.length > 0 &&
          names.every((one) => row[one] !== null) &&
          this.#rows.get(resource)?.some((other) => names.every((one) => other.row[one] === row[one]))
        )
      })
      .map(({ name }) => name)
  }
}

/** The row that a valid body creates, without its id. */
export const expectedRow = (resource: Resource, sent: Readonly<Record<string, Value>>): RowValues =>
  Object.fromEntries(
    resource.fields
      .filter(({ name }) => name !== 'id')
      .map((field): [string, Value] => {
        const source = field.managed ? (field.managed === true ? null : field.managed) : (field.default ?? null)
        const value = Object.hasOwn(sent, field.name) && !field.managed ? (sent[field.name] ?? null) : undefined
        if (field.redacted) return [field.name, null]
        if (value !== undefined && (value !== null || !field.required)) return [field.name, value]
        return [field.name, typeof source === 'function' ? source() : source]
      }),
  )

/** The first difference between a created row and the expected one; timestamps are compared by format only. */
export const rowMismatch = (
  resource: Resource,
  sent: Readonly<Record<string, Value>>,
  created: RowValues,
): string | undefined => {
  const expected = expectedRow(resource, sent)
  const names = resource.fields.map(({ name }) => name)
  if (JSON.stringify(Object.keys(created)) !== JSON.stringify(names)) return `the fields are ${Object.keys(created)}`
  return names.find((name) => {
    if (name === 'id' || expected[name] === created[name]) return false
    const field = resource.fields.find((one) => one.name === name)
    const isFromClock = typeof (field?.managed ?? field?.default) === 'function' && !(sent[name] ?? null)
    return !isFromClock || withoutDigits(created[name]) !== withoutDigits(expected[name])
  })
}
