/** Describes tables of another program as resources, and reports what a descriptor cannot express. */

import { isDate, now, parseTimestamp, today } from '../../engine/descriptor/clock.js'
import { isValueOf, type Kind, type KindSpec, kindOf } from '../../engine/descriptor/kinds.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import type { CatalogueColumn, CatalogueTable } from '../../engine/storage/migration/catalogue.js'
import type { NewField, NewResource } from '../new/plan.js'
import { distinctNames, fieldNames, resourcePaths } from './distinct.js'

interface Description {
  /** Undefined if the table cannot be served. */
  readonly resource?: NewResource
  readonly notes: readonly string[]
}

/** The most digits of which a double, which SQLite stores, has each. */
const maxExactDigits = 15

const decimalType = /^(?:numeric|decimal)\s*\((\d+)\s*,\s*(\d+)\)$/i

/** The decimal of a column that SQLite declares as one; PostgreSQL has it in the catalogue. */
const declaredDecimal = (type: string): KindSpec | undefined => {
  const [digits = 0, places = 0] = decimalType.exec(type)?.slice(1).map(Number) ?? []
  return digits > 0 && digits <= maxExactDigits && places <= digits ? { kind: 'decimal', digits, places } : undefined
}

/** The kind of field that serves a column; undefined for bytes. A type that no kind stores is served as text. */
const specFor = (column: CatalogueColumn): KindSpec | undefined => {
  const { digits, places } = column
  const kind = kindFor(column)
  if (kind === 'decimal') return { kind, digits, places }
  return (kind === 'number' ? declaredDecimal(column.type) : undefined) ?? (kind && { kind })
}

const kindFor = ({ type, kind }: CatalogueColumn): Kind | undefined => {
  if (kind !== undefined) return kind
  if (/^(?:datetime|timestamp)/i.test(type)) return 'timestamp'
  if (/money|currency/i.test(type) && !/^money$/.test(type)) return 'number'
  return /blob|bytea|binary/i.test(type) ? undefined : 'text'
}

/** Why a table cannot be served; undefined if it can. */
const whyNoTable = (table: CatalogueTable): string | undefined => {
  const { relationKind, primaryKey, columns } = table
  const [key, ...others] = primaryKey
  const byHand = 'describe it by hand, and name the column that identifies a row as idColumn'
  if (/partition of|part of|virtual/.test(relationKind ?? '')) return `it is ${relationKind}`
  const what = relationKind ? `it is ${relationKind}, which` : 'it'
  if (key === undefined) return `${what} has no primary key; ${byHand}`
  if (others.length > 0) return `its primary key has several columns (${primaryKey.join(', ')})`
  const { kind, type } = columns.find(({ name }) => name === key) as CatalogueColumn
  return kind === 'integer' ? undefined : `its primary key "${key}" is of type ${type || 'none'}, not an integer`
}

/** The checks of the values of one column, as SQLite and as PostgreSQL write them. */
const valueChecks = [
  /^check \(["`[]?(\w+)["`\]]? in \((.*)\)\)$/is,
  /^CHECK \(+"?(\w+)"?\)?(?:::[\w ]+)? = ANY \(+ARRAY\[(.*)\]\)?(?:::[\w ]+\[\])?\)+$/s,
]

/** The column and the values of a constraint that allows only these; undefined for any other. */
const allowedValues = (sql: string): { column: string; oneOf: (string | number)[] } | undefined => {
  const [, column, list] = valueChecks.map((pattern) => pattern.exec(sql)).find((match) => match !== null) ?? []
  if (column === undefined || list === undefined) return undefined
  const texts = [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'"))
  const numbers = list.split(',').map(Number)
  if (texts.length === 0 && !numbers.every(Number.isSafeInteger)) return undefined
  return { column, oneOf: texts.length > 0 ? texts : numbers }
}

/** The bounds of a check such as `qty between 1 and 100`, or `qty >= 1 and qty <= 100`; undefined for any other. */
const parseBounds = (sql: string, column: string, spec: KindSpec): Pick<NewField, 'min' | 'max'> | undefined => {
  const { kind } = spec
  // Without the casts and parentheses that PostgreSQL adds.
  const plain = sql
    .replaceAll(/::[a-z ]+|[()]/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^check /i, '')
    .trim()
  const conditions = plain.replace(/^(\S+) between (\S+) and (\S+)$/i, '$1 >= $2 and $1 <= $3').split(/ and /i)
  const bounds: { min?: number | string; max?: number | string } = {}
  for (const condition of conditions) {
    const [, name, operator = '', text = ''] = /^["`[]?(\w+)["`\]]? ?(>=|<=|>|<) ?(\S+)$/.exec(condition) ?? []
    const given = text.replace(/^'(.*)'$/, '$1')
    const step = operator === '>' ? 1 : operator === '<' ? -1 : 0
    const value = kindOf(kind).input === 'number' ? Number(given) + step : given
    const isStated = given !== '' && kindOf(kind).options.includes('min') && isValueOf(spec, value)
    if (name !== column || !isStated || (step !== 0 && kind !== 'integer')) return undefined
    bounds[operator.startsWith('>') ? 'min' : 'max'] = value as number | string
  }
  return bounds
}

/** The longest text of a column such as varchar(20). */
const parseMaxLength = (type: string): number | undefined => {
  const [, length] = /char[^(]*\((\d+)\)/.exec(type) ?? []
  return length === undefined ? undefined : Number(length)
}

/** The rules that a column's type and checks have for its values; what they express is removed from the constraints. */
const inferRules = ({ name, type, values }: CatalogueColumn, spec: KindSpec, constraints: Set<string>) => {
  const { kind } = spec
  const checks = [...constraints]
  const listed = checks.find((sql) => allowedValues(sql)?.column === name)
  const allowed = values ?? allowedValues(listed ?? '')?.oneOf
  const fits = allowed?.every((value) => typeof value === (kind === 'text' ? 'string' : 'number'))
  const bounded = checks.find((sql) => parseBounds(sql, name, spec))
  const bounds = parseBounds(bounded ?? '', name, spec)
  const maxLength = kind === 'text' ? parseMaxLength(type) : undefined
  if (fits) constraints.delete(listed ?? '')
  else constraints.delete(bounded ?? '')
  return {
    ...(allowed && fits ? { oneOf: allowed } : bounds),
    ...(maxLength !== undefined && !fits && { maxLength }),
  }
}

/** What the default of a column is in a descriptor; undefined if only the database can compute it. */
const parseDefault = (sql: string, spec: KindSpec): Pick<NewField, 'default'> | undefined => {
  const { kind } = spec
  const plain = sql.replace(/::[\w\s"().]+$/, '').replace(/^\((.*)\)$/, '$1')
  if (/^(?:now\(\)|current_timestamp(?:\(\d\))?)$/i.test(plain) && kind === 'timestamp') return { default: now }
  if (/^(?:now\(\)|current_date)$/i.test(plain) && kind === 'date') return { default: today }
  const [, text] = /^'((?:[^']|'')*)'$/.exec(plain) ?? []
  const given = text?.replaceAll("''", "'")
  if (kind === 'boolean' && /^(?:true|false|[01])$/i.test(given ?? plain))
    return { default: /^(?:true|1)$/i.test(given ?? plain) }
  const literal = kind === 'decimal' ? (given ?? plain) : given
  const value = kindOf(kind).input === 'number' ? Number(given ?? (plain || Number.NaN)) : literal
  const isDated =
    kind === 'date' ? isDate(given ?? '') : kind !== 'timestamp' || parseTimestamp(given ?? '') !== undefined
  return value !== undefined && isValueOf(spec, value) && isDated ? { default: value } : undefined
}

/** Names of columns that clients should not see. */
const secret = /(?:^|_)(?:password|passwd|pwd|token|secret|credential|api_?key|private_?key)s?(?:_|$)/

/** How a value that the client does not send is set. */
const inferPreset = (
  column: CatalogueColumn,
  spec: KindSpec,
  isUnique: boolean,
): Pick<NewField, 'default' | 'managed'> => {
  const { default: sql, whyReadOnly } = column
  if (whyReadOnly != null) return { managed: true }
  if (sql === null || /^null\b/i.test(sql)) return {}
  const known = parseDefault(sql, spec)
  if (known) return isUnique ? {} : known
  return { managed: true }
}

const canBeUnique = (kind: Kind): boolean => kindOf(kind).options.includes('unique')

/** The resource of a table without its names; `paths` has the path of each table that is or gets a resource. */
const describeTable = (table: CatalogueTable, paths: ReadonlyMap<string, string>) => {
  const notes: string[] = []
  const note = (what: string) => void notes.push(`${table.name}: ${what}.`)
  const [idColumn = 'id'] = table.primaryKey
  const columns = table.columns.filter(({ name }) => name !== idColumn)
  const names = fieldNames(columns.map(({ name }) => name))
  const constraints = new Set(table.otherConstraints)
  const fields = columns.flatMap((column): NewField[] => {
    const { name: own, isNotNull } = column
    const name = names.get(own) as string
    const spec = specFor(column)
    if (spec === undefined) {
      note(`"${own}" is of type ${column.type}, which no field can store; it is left out`)
      return []
    }
    const { kind } = spec
    if (kind === 'number' && decimalType.test(column.type))
      note(`"${own}" is of type ${column.type}, which has more digits than decimal(); it is served as a double`)
    const target = column.foreignKey?.target
    const references = kind === 'integer' ? paths.get(target ?? '') : undefined
    if (target !== undefined && references === undefined)
      note(`the reference of "${own}" to "${target}" is left out, because that table has no descriptor`)
    const isRedacted = secret.test(name)
    const isUnique =
      !isRedacted && canBeUnique(kind) && table.unique.some(([only, ...more]) => only === own && more.length === 0)
    const preset = inferPreset(column, spec, isUnique)
    if (preset.managed) note(`only the database sets "${own}", so clients cannot`)
    const rules = references === undefined ? inferRules(column, spec, constraints) : { references }
    return [
      {
        name,
        ...(own !== name && { column: own }),
        ...spec,
        isRequired: isNotNull && !isRedacted,
        ...rules,
        ...preset,
        ...(isRedacted ? { redacted: true } : ('references' in rules || 'oneOf' in rules) && { filter: true }),
        ...(isUnique && { unique: true }),
      },
    ]
  })
  for (const key of table.unique.filter(({ length }) => length > 1)) {
    const members = key.flatMap((own) => fields.find(({ name }) => name === names.get(own)) ?? [])
    const last = members.findLast((field) => !field.unique && canBeUnique(field.kind))
    if (!last || members.length < key.length || members.some(({ redacted }) => redacted))
      note(`no descriptor can express that (${key.join(', ')}) is unique; a write that violates it gets 422`)
    else {
      const unique = members.filter((field) => field !== last).map(({ name }) => name)
      fields[fields.indexOf(last)] = { ...last, unique }
    }
  }
  for (const sql of constraints) note(`no descriptor can express ${sql}; a write that violates it gets 422`)
  const left = columns.filter(
    ({ isNotNull, default: value, name }) =>
      isNotNull && value === null && !fields.some((field) => (field.column ?? field.name) === name),
  )
  const assignsIds =
    table.rowId === idColumn || table.columns.some(({ name, default: value }) => name === idColumn && value !== null)
  if (left.length > 0) note('create is false, because a column that is left out needs a value')
  if (!assignsIds) note('create is false, because the database assigns no ids')
  return {
    idColumn,
    fields,
    create: left.length === 0 && assignsIds && !table.isReadOnly && table.relationKind === undefined,
    notes,
  }
}

/** The resources of tables; those in the registry have one already. */
export const describeTables = (tables: readonly CatalogueTable[], registry: Registry, area: string): Description[] => {
  const others = tables.filter(({ name }) => !registry.some((one) => one.table === name))
  const described = others.filter((table) => whyNoTable(table) === undefined).map(({ name }) => name)
  const paths = resourcePaths(described, registry)
  const findName = distinctNames(registry)
  return others.map((table): Description => {
    const path = paths.get(table.name)
    const why = whyNoTable(table)
    if (path === undefined || why !== undefined) return { notes: [`${table.name}: left out, because ${why}.`] }
    const { idColumn, fields, create, notes } = describeTable(table, paths)
    if (fields.length === 0) return { notes: [...notes, `${table.name}: left out, because no column can be a field.`] }
    const resource = { path, ...findName(path), area, about: undefined, table: table.name, existing: { idColumn } }
    return { resource: { ...resource, fields, create }, notes }
  })
}
