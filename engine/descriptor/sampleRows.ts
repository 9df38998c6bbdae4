/** Finds bodies of creates that fit the rows there are: they keep the rules of fields and between fields, unique values, and references. */
import { JsonText } from './jsonText.js'
import {
  type Field,
  idField,
  newRow,
  type Registry,
  type Resource,
  type RowValues,
  type Value,
  writableFields,
} from './registry.js'
import { brokenRules, newField } from './rowRules.js'
import { sampleValue, sampleValues } from './samples.js'
import { findViolation } from './valueRules.js'

/** The rows that exist, by path. */
export type RowSource = (path: string) => readonly RowValues[]

export const demoRows =
  (registry: Registry): RowSource =>
  (path) =>
    registry.find((resource) => resource.path === path)?.demo ?? []

/** There is no body, as far as a search finds; the message says why, and what would help. */
export class NoSample extends Error {
  override readonly name = 'NoSample'
  /** Whether one would fit if some row were not there. */
  readonly isFull: boolean

  constructor(message: string, isFull = false) {
    super(message)
    this.isFull = isFull
  }
}

/** The names of the fields whose values no two rows may have in common. */
export const uniqueKeys = (resource: Resource): string[][] => [
  ...(idField(resource).managed ? [] : [['id']]),
  ...resource.fields.flatMap(({ name, unique }) => (unique ? [[...unique, name]] : [])),
]

/** The values of a key in a row; undefined if one of them is null. */
const keyValue = (names: readonly string[], row: RowValues): string | undefined => {
  const values = names.map((name) => row[name] ?? null)
  return values.includes(null) ? undefined : JSON.stringify(values)
}

/** Whether a row has a key that another one has too. */
export const repeatsKey = (resource: Resource, row: RowValues, others: readonly RowValues[]): boolean =>
  uniqueKeys(resource).some((names) => {
    const key = keyValue(names, row)
    return key !== undefined && others.some((other) => keyValue(names, other) === key)
  })

/** Whether a row keeps the rules between its fields; one that throws refuses it. */
export const keepsRules = (resource: Resource, row: RowValues): boolean => {
  try {
    return brokenRules(resource, row, () => true).length === 0
  } catch {
    return false
  }
}

/** The values of a demo row as a client would send them. */
export const plainValues = (row: RowValues): RowValues =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof JsonText ? (value.toJSON() as Value) : value]),
  )

/** Fields that rules or keys connect, so that their values are chosen together. */
interface FieldGroup {
  readonly names: readonly string[]
  readonly resource: Resource
  readonly keys: readonly string[][]
}

const groupsOf = (resource: Resource, names: readonly string[]): FieldGroup[] => {
  const keys = uniqueKeys(resource)
  const rules = resource.rules ?? []
  let groups: string[][] = names.map((name) => [name])
  for (const connected of [...keys, ...rules.map(({ fields }) => fields)]) {
    const touched = groups.filter((group) => group.some((name) => connected.includes(name)))
    groups = [...groups.filter((group) => !touched.includes(group)), touched.flat()]
  }
  return groups
    .filter((group) => group.length > 0)
    .map((group) => {
      const isConnected = (fields: readonly string[]) => fields.some((name) => group.includes(name))
      const groupRules = rules.filter(({ fields }) => isConnected(fields))
      return { names: group, resource: { ...resource, rules: groupRules }, keys: keys.filter(isConnected) }
    })
}

/** How many combinations of values are tried for a group. */
const maxTries = 4_000
/** How many rows are offered to a reference. */
const maxTargets = 200
/** How many demo rows are tried as they are. */
const maxDemoRows = 200

const combinations = function* (domains: readonly (readonly Value[])[]): Generator<Value[]> {
  const count = domains.reduce((product, values) => product * values.length, 1)
  // All of them if they are few, otherwise some in no order, always the same.
  let state = 1
  const below = (size: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * size)
  }
  for (let n = 0; n < Math.min(count, maxTries); n++) {
    let remaining = n
    yield domains.map((values) => {
      const index = count > maxTries ? below(values.length) : remaining % values.length
      remaining = Math.floor(remaining / values.length)
      return values[index] as Value
    })
  }
}

const firstFitting = <T>(attempts: Iterable<T>, isFitting: (attempt: T) => boolean): T | undefined => {
  for (const attempt of attempts) if (isFitting(attempt)) return attempt
  return undefined
}

export interface SampleRequest {
  readonly rows: RowSource
  readonly resource: Resource
  /** Which sample: another number gives other values, as far as the rules allow. */
  readonly n: number
  /** Values that it must have. */
  readonly fixed?: RowValues
  /** Fields in which it must have a value. */
  readonly needed?: readonly string[]
}

/** A body with a value in every field that a client may set, except where only null fits; throws a NoSample if there is none. */
export const findBody = ({ rows, resource, n, fixed = {}, needed = [] }: SampleRequest): RowValues => {
  const { path } = resource
  const fields = new Map(writableFields(resource).map((field) => [field.name, newField(field)]))
  const usedKeys = new Map(uniqueKeys(resource).map((names) => [names.join(), new Set<string>()]))
  for (const row of usedKeys.size > 0 ? rows(path) : [])
    for (const names of uniqueKeys(resource)) usedKeys.get(names.join())?.add(keyValue(names, row) ?? '')
  const isFree = (names: readonly string[], row: RowValues) =>
    !usedKeys.get(names.join())?.has(keyValue(names, row) ?? 'null')
  const demo = resource.demo.map((_, index) => plainValues(resource.demo[(n + index) % resource.demo.length] ?? {}))
  const seeds = resource.existing ? 'give its fields examples that do' : `add a demo row to seeds/${path}.json`

  /** What is known before a value is chosen: what the service sets. */
  const rowWith = (names: readonly string[], values: readonly Value[]): RowValues =>
    newRow(resource, Object.fromEntries(names.map((name, index) => [name, values[index]])))

  const valuesOf = (field: Field, isAlone: boolean): Value[] => {
    const { name, references } = field
    if (name in fixed) return [fixed[name] ?? null]
    const isUnique = usedKeys.has(name)
    const isUsable = (value: Value) =>
      value !== null && findViolation(field, value) === undefined && (!isUnique || isFree([name], { [name]: value }))
    if (references !== undefined) {
      const ids = rows(references).map((row) => row['id'] ?? null)
      const rotated = [...ids.slice(n % Math.max(1, ids.length)), ...ids.slice(0, n % Math.max(1, ids.length))]
      return rotated.filter(isUsable).slice(0, maxTargets)
    }
    // Most fields need no choice, which takes time.
    const first = isAlone ? (sampleValue(field, n) ?? null) : null
    if (isUsable(first)) return [first]
    // A range may have few values that no row has yet.
    const attempts = isUnique && rows(path).length > 0 ? rows(path).length + 1 : 1
    for (let more = 0; more < attempts; more += 9) {
      const values = sampleValues(field, n + more).filter(isUsable)
      if (values.length > 0) return values
    }
    return []
  }

  const chosen: RowValues = {}
  for (const { names, resource: groupResource, keys } of groupsOf(resource, [...fields.keys()])) {
    const groupFields = names.map((name) => fields.get(name) as Field)
    const domains = groupFields.map((field) => valuesOf(field, names.length === 1 && !groupResource.rules?.length))
    const takesNull = ({ name, required, default: preset }: Field) =>
      !(name in fixed) && !needed.includes(name) && (!required || preset !== undefined)
    let isFull = false
    const isFitting = (values: readonly Value[]): boolean => {
      const isAllowed = groupFields.every((field, index) => {
        const value = values[index] ?? null
        if (field.name in fixed) return JSON.stringify(value) === JSON.stringify(fixed[field.name] ?? null)
        if (value === null) return takesNull(field)
        return (
          findViolation(field, value) === undefined &&
          (field.references === undefined || rows(field.references).some((row) => row['id'] === value))
        )
      })
      const row = isAllowed ? rowWith(names, values) : {}
      if (!isAllowed || !keepsRules(groupResource, row)) return false
      const isNew = keys.every((key) => isFree(key, row))
      isFull ||= !isNew
      return isNew
    }
    const attempts = function* (): Generator<readonly Value[]> {
      if (domains.every(({ length }) => length > 0)) yield domains.map(([first]) => first as Value)
      if (keys.length > 0 || groupResource.rules?.length) {
        const demoValues = demo.slice(0, maxDemoRows).map((row) => names.map((name) => row[name] ?? null))
        const examples = groupFields.map(({ example }) => example ?? null)
        yield* [examples, ...demoValues].filter((values) => !values.includes(null))
        for (const row of demo.slice(0, 10)) {
          const varied = groupFields.map(({ name }, index) =>
            keys.some((key) => key.includes(name)) ? (domains[index] ?? []) : [row[name] ?? null],
          )
          yield* combinations(varied)
        }
        yield* combinations(domains.map((domain) => domain.slice(0, 15)))
        yield* combinations(domains)
        yield* demoValues
      }
      yield* combinations(
        domains.map((values, index) => (takesNull(groupFields[index] as Field) ? [...values, null] : values)),
      )
    }
    const values = firstFitting(attempts(), isFitting)
    if (!values) {
      const lacking = groupFields.find((field, index) => domains[index]?.length === 0 && !takesNull(field))
      const isUsed = lacking && keys.some(([name, ...more]) => name === lacking.name && more.length === 0)
      const rule = groupResource.rules?.[0]?.message
      if (isFull || isUsed) {
        const target = groupFields.find(({ references }) => references)?.references
        const help = target ? `add a demo row to seeds/${target}.json` : `leave one out of seeds/${path}.json`
        throw new NoSample(`the rows of ${path} use every value of ${names.join(' and ')}: ${help}`, true)
      }
      if (lacking?.references !== undefined)
        throw new NoSample(
          `no row of ${lacking.references} for ${path}.${lacking.name}: add a demo row to seeds/${lacking.references}.json`,
        )
      if (lacking)
        throw new NoSample(`no sample keeps the rules of ${path}.${lacking.name}: add an example to the field`)
      throw new NoSample(`no sample keeps the rule "${rule}" of ${path}: ${seeds}`)
    }
    for (const [index, name] of names.entries()) chosen[name] = values[index] ?? null
  }
  return Object.fromEntries([...fields.keys()].map((name) => [name, chosen[name] ?? null]))
}
