/** The rows as plain JavaScript knows them, and what the service must answer about them. */
import {
  filterFields,
  type Resource,
  type RowValues,
  searchedFields,
  type Value,
} from '../engine/descriptor/registry.js'
import { fold } from '../engine/storage/caseFold.js'
import type { Parameter } from './arbitraryQueries.js'

interface Known {
  readonly row: RowValues
  readonly folded: string
}

/** What a list must answer: a page, or the parameters it refuses. */
export type Expected =
  | { readonly refused: readonly string[] }
  | { readonly data: readonly RowValues[]; readonly total: number; readonly limit: bigint; readonly offset: bigint }

/** A value with its digits made equal: two readings of the clock are alike. */
const shapeOf = (value: unknown): string => String(value).replaceAll(/\d/g, '9')

const bounds: Record<string, { least: bigint; most?: bigint }> = {
  limit: { least: 1n, most: 200n },
  offset: { least: 0n },
}

/** The rows of every resource. */
export class Oracle {
  readonly #known = new Map<Resource, Known[]>()
  readonly #ids = new Map<string, number[]>()

  /** Takes rows in, in the order of their ids. */
  learn(resource: Resource, rows: readonly RowValues[]): void {
    const known = this.#known.get(resource) ?? []
    const ids = this.#ids.get(resource.path) ?? []
    const textOf = (row: RowValues) =>
      searchedFields(resource)
        .flatMap(({ name }) => row[name] ?? [])
        .join(' ')
    for (const row of rows) {
      known.push({ row, folded: fold(textOf(row)) })
      ids.push(Number(row['id']))
    }
    this.#known.set(resource, known)
    this.#ids.set(resource.path, ids)
  }

  ids(path: string): readonly number[] {
    return this.#ids.get(path) ?? []
  }

  /** Some of the rows: enough to ask for them. */
  someRows(resource: Resource): readonly RowValues[] {
    const known = this.#known.get(resource) ?? []
    return [...known.slice(0, 30), ...known.slice(-30)].map(({ row }) => row)
  }

  row(resource: Resource, id: number): RowValues | undefined {
    return this.#known.get(resource)?.find(({ row }) => row['id'] === id)?.row
  }

  /** What a list with these parameters must answer. */
  list(resource: Resource, parameters: readonly Parameter[]): Expected {
    // By the standard's own reading of a query; of a name that comes twice the last counts.
    const meaning = (written: string) => new URLSearchParams(`x=${written}`).get('x') ?? ''
    const given = new Map(parameters.map((parameter) => [parameter.name, parameter]))
    const filters = filterFields(resource).filter(({ name }) => given.has(name))
    const integers = ['limit', 'offset', ...filters.filter(({ kind }) => kind === 'integer').map(({ name }) => name)]
    const refused = integers.filter((name) => {
      const parameter = given.get(name)
      if (!parameter) return false
      const { integer } = parameter
      const { least = undefined, most = undefined } = bounds[name] ?? {}
      return integer === undefined || (least !== undefined && integer < least) || (most !== undefined && integer > most)
    })
    if (refused.length > 0) return { refused }
    const q = meaning(given.get('q')?.written ?? '').trim()
    const text = fold(q)
    const equal = filters.map(({ name, kind }) => {
      const { written = '', integer } = given.get(name) ?? {}
      return kind === 'integer'
        ? ({ row }: Known) => row[name] !== null && BigInt(row[name] as number) === integer
        : ({ row }: Known) => row[name] === meaning(written)
    })
    const found = (this.#known.get(resource) ?? []).filter(
      (known) => (q === '' || known.folded.includes(text)) && equal.every((holds) => holds(known)),
    )
    const limit = given.get('limit')?.integer ?? 50n
    const offset = given.get('offset')?.integer ?? 0n
    const start = offset > BigInt(found.length) ? found.length : Number(offset)
    const data = found.slice(start, start + Number(limit)).map(({ row }) => row)
    return { data, total: found.length, limit, offset }
  }

  /** The fields of a new row whose value is unique and taken. */
  taken(resource: Resource, row: RowValues): string[] {
    return resource.fields
      .filter(({ name, unique }) => {
        const names = unique ? [...unique, name] : []
        return (
          names.length > 0 &&
          names.every((one) => row[one] !== null) &&
          this.#known.get(resource)?.some((known) => names.every((one) => known.row[one] === row[one]))
        )
      })
      .map(({ name }) => name)
  }
}

/** The row that a sound body must make, but for its id; what the clock says is told apart by its shape alone. */
export const rowOf = (resource: Resource, sent: Readonly<Record<string, Value>>): RowValues =>
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

/** What is not as it should be in a row that was made. */
export const wrongIn = (
  resource: Resource,
  sent: Readonly<Record<string, Value>>,
  made: RowValues,
): string | undefined => {
  const expected = rowOf(resource, sent)
  const names = resource.fields.map(({ name }) => name)
  if (JSON.stringify(Object.keys(made)) !== JSON.stringify(names)) return `the fields are ${Object.keys(made)}`
  return names.find((name) => {
    if (name === 'id' || expected[name] === made[name]) return false
    const field = resource.fields.find((one) => one.name === name)
    const isByClock = typeof (field?.managed ?? field?.default) === 'function' && !(sent[name] ?? null)
    return !isByClock || shapeOf(made[name]) !== shapeOf(expected[name])
  })
}
