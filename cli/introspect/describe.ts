/** Describes tables of another program as resources, and reports what a descriptor cannot express. */

import {
  canonicalOf,
  type IdKind,
  isValueOf,
  type Kind,
  type KindSpec,
  kindNames,
  kindOf,
} from '../../engine/descriptor/kinds/index.js'
import { takesOption } from '../../engine/descriptor/options.js'
import { type GivenValue, idField, type Registry } from '../../engine/descriptor/registry.js'
import type { CatalogueColumn, CatalogueTable } from '../../engine/storage/migration/catalogue.js'
import type { NewField, NewResource } from '../new/plan.js'
import { distinctNames, fieldNames, resourcePaths } from './distinct.js'
import { findKey, idKindOf, whyNoTable } from './keys.js'

interface Description {
  /** Undefined if the table cannot be served. */
  readonly resource?: NewResource
  readonly notes: readonly string[]
}

/** The kind of field that serves a column; undefined for bytes. A type that no kind stores is served as text. */
const kindFor = ({ type, kind, digits, places }: CatalogueColumn): KindSpec | undefined => {
  if (kind !== undefined) return digits === undefined ? { kind } : { kind, digits, places }
  const foreign = kindNames.find((kindName) => kindOf(kindName).foreignTypes?.test(type))
  return foreign || !/blob|bytea|binary/i.test(type) ? { kind: foreign ?? 'text' } : undefined
}

/** A resource that others may reference. */
interface Target {
  readonly path: string
  readonly id: IdKind
  readonly idColumn: string
}

/** The resource that a column references and the kind of its ids, or why no descriptor can say so. */
const findReference = (
  { foreignKey }: CatalogueColumn,
  kind: Kind,
  targets: ReadonlyMap<string, Target>,
): Target | string | undefined => {
  if (foreignKey === undefined) return undefined
  const { target: name, targetColumn } = foreignKey
  const target = targets.get(name)
  if (target === undefined) return 'that table has no descriptor'
  if (targetColumn != null && targetColumn.toLowerCase() !== target.idColumn.toLowerCase())
    return `it references "${targetColumn}", not the id`
  // A key with integers that JSON cannot hold is a text, and so is what references it.
  const isSame = kind === target.id || (kindOf(kind).isWhole && kindOf(target.id).isText)
  return isSame ? target : `the ids there are of another kind, ${target.id}`
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
    const bound = text.replace(/^'(.*)'$/, '$1')
    const step = operator === '>' ? 1 : operator === '<' ? -1 : 0
    const value = kindOf(kind).input === 'number' ? Number(bound) + step : bound
    const isStated = bound !== '' && takesOption(kind, 'min') && isValueOf(spec, value)
    if (name !== column || !isStated || (step !== 0 && !kindOf(kind).isWhole)) return undefined
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
  const { isText } = kindOf(spec.kind)
  const checks = [...constraints]
  const listed = checks.find((sql) => allowedValues(sql)?.column === name)
  const allowed = values ?? allowedValues(listed ?? '')?.oneOf
  const fits =
    takesOption(spec.kind, 'oneOf') && allowed?.every((value) => typeof value === (isText ? 'string' : 'number'))
  const bounded = checks.find((sql) => parseBounds(sql, name, spec))
  const bounds = parseBounds(bounded ?? '', name, spec)
  const maxLength = isText ? parseMaxLength(type) : undefined
  if (fits) constraints.delete(listed ?? '')
  else constraints.delete(bounded ?? '')
  return {
    ...(allowed && fits ? { oneOf: allowed } : bounds),
    ...(maxLength !== undefined && !fits && { maxLength }),
  }
}

/** What the default of a column is in a descriptor; undefined if only the database can compute it. */
const parseDefault = (sql: string, spec: KindSpec): Pick<NewField, 'default'> | undefined => {
  const { clock, clockSql, fromDefault, isJson } = kindOf(spec.kind)
  const plain = sql.replace(/::[\w\s"().]+$/, '').replace(/^\((.*)\)$/, '$1')
  if (clock && clockSql?.test(plain)) return { default: clock }
  const [, quoted] = /^'((?:[^']|'')*)'$/.exec(plain) ?? []
  const text = quoted?.replaceAll("''", "'")
  const value = (fromDefault ? fromDefault(text, plain) : text) as GivenValue | undefined
  if (value === undefined || !isValueOf(spec, value)) return undefined
  return { default: isJson ? value : (canonicalOf(spec, value) as string | number) }
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
  const preset = parseDefault(sql, spec)
  if (preset) return isUnique ? {} : preset
  return { managed: true }
}

const canBeUnique = (kind: Kind): boolean => takesOption(kind, 'unique')

/** Why clients cannot create rows of a table, all of them. */
const whyNoCreate = (table: CatalogueTable, key: CatalogueColumn, fields: readonly NewField[]): string[] => {
  const unset = table.columns.filter(
    ({ isNotNull, default: value, name }) =>
      isNotNull &&
      value === null &&
      name !== key.name &&
      !fields.some((field) => (field.column ?? field.name) === name),
  )
  const isInteger = /int/i.test(key.type)
  const isAssigned = table.rowId === key.name || key.default !== null
  const idKind = key.kind && kindOf(key.kind)
  return [
    ...(unset.length > 0 ? ['a column that is left out needs a value'] : []),
    ...(idKind?.isWhole && !isAssigned ? ['the database assigns no ids'] : []),
    ...(idKind?.isText && isInteger ? ['its ids are integers, some beyond 2^53 - 1, and are served as texts'] : []),
    ...(idKind?.length && key.foreignKey ? [`its ids are those of "${key.foreignKey.target}"`] : []),
    ...(!idKind?.isWhole && key.whyReadOnly != null ? ['only the database sets its ids'] : []),
  ]
}

/** The resource of a table without its names; `targets` has each table that is or gets a resource. */
const describeTable = (table: CatalogueTable, key: CatalogueColumn, targets: ReadonlyMap<string, Target>) => {
  const notes: string[] = []
  const note = (what: string) => void notes.push(`${table.name}: ${what}.`)
  const columns = table.columns.filter((column) => column !== key)
  const names = fieldNames(columns.map(({ name }) => name))
  const constraints = new Set(table.otherConstraints)
  const fields = columns.flatMap((column): NewField[] => {
    const { name: columnName, isNotNull, type } = column
    const name = names.get(columnName) as string
    const inferred = kindFor(column)
    if (inferred === undefined) {
      note(`"${columnName}" is of type ${type}, which no field can store; it is left out`)
      return []
    }
    const target = findReference(column, inferred.kind, targets)
    if (typeof target === 'string')
      note(`the reference of "${columnName}" to "${column.foreignKey?.target}" is left out, because ${target}`)
    const isReference = typeof target === 'object'
    const spec = isReference ? { kind: target.id } : inferred
    const { kind } = spec
    const { sums } = kindOf(kind)
    if (sums && !sums.fromUnits && /^(?:numeric|decimal) ?(?:\(|$)/i.test(type))
      note(`"${columnName}" is of type ${type}; as number() it has the precision of a double`)
    const isRedacted = secret.test(name)
    const isUnique =
      !isRedacted &&
      canBeUnique(kind) &&
      table.unique.some(([only, ...more]) => only === columnName && more.length === 0)
    const preset = inferPreset(column, spec, isUnique)
    if (preset.managed) note(`only the database sets "${columnName}", so clients cannot`)
    const rules = isReference ? { references: target.path } : inferRules(column, spec, constraints)
    return [
      {
        name,
        ...(columnName !== name && { column: columnName }),
        ...spec,
        isRequired: isNotNull && !isRedacted,
        ...rules,
        ...preset,
        ...(isRedacted ? { redacted: true } : ('references' in rules || 'oneOf' in rules) && { filter: true }),
        ...(isUnique && { unique: true }),
      },
    ]
  })
  for (const unique of table.unique.filter(({ length }) => length > 1)) {
    const members = unique.flatMap((columnName) => fields.find(({ name }) => name === names.get(columnName)) ?? [])
    const last = members.findLast((field) => !field.unique && canBeUnique(field.kind))
    if (!last || members.length < unique.length || members.some(({ redacted }) => redacted))
      note(`no descriptor can express that (${unique.join(', ')}) is unique; a write that violates it gets 422`)
    else {
      const within = members.filter((field) => field !== last).map(({ name }) => name)
      fields[fields.indexOf(last)] = { ...last, unique: within }
    }
  }
  for (const sql of constraints) note(`no descriptor can express ${sql}; a write that violates it gets 422`)
  const isTable = table.relationKind === undefined
  const reasons = isTable ? whyNoCreate(table, key, fields) : []
  for (const reason of reasons) note(`create is false, because ${reason}`)
  return { fields, create: reasons.length === 0 && !table.isReadOnly && isTable, notes }
}

/** The resources of tables; those in the registry have one already. */
export const describeTables = (tables: readonly CatalogueTable[], registry: Registry, area: string): Description[] => {
  const others = tables.filter(({ name }) => !registry.some((resource) => resource.table === name))
  const names = tables.map(({ name }) => name)
  const keys = new Map(
    others.flatMap((table) => {
      const key = findKey(table)
      return key ? [[table.name, key] as const] : []
    }),
  )
  const paths = resourcePaths([...keys.keys()], registry)
  const targets = new Map<string, Target>(
    registry.map((resource) => {
      const { kind, column: idColumn } = idField(resource)
      return [resource.table, { path: resource.path, id: kind as IdKind, idColumn }]
    }),
  )
  for (const [name, key] of keys)
    targets.set(name, { path: paths.get(name) as string, id: idKindOf(key) as IdKind, idColumn: key.name })
  const findName = distinctNames(registry)
  return others.map((table): Description => {
    const key = keys.get(table.name)
    const path = paths.get(table.name)
    if (path === undefined || key === undefined)
      return { notes: [`${table.name}: left out, because ${whyNoTable(table, names)}`] }
    const { fields, create, notes } = describeTable(table, key, targets)
    if (fields.length === 0) {
      const why = whyNoTable(table, names, 'no column beside its key can be a field')
      return { notes: [...notes, `${table.name}: left out, because ${why}`] }
    }
    const existing = { idColumn: key.name, id: idKindOf(key) as IdKind }
    const resource = { path, ...findName(path), area, about: undefined, table: table.name, existing }
    return { resource: { ...resource, fields, create }, notes }
  })
}
