/** Compares a field with its column: the kind of its values, NOT NULL and the foreign key. */
import { type Kind, kindOf } from '../../descriptor/kinds.js'
import type { Field, GivenValue, Registry, Resource } from '../../descriptor/registry.js'
import { refusalOf } from '../../descriptor/valueRules.js'
import { tableNameOf } from '../schema.js'
import type { CatalogueColumn, CatalogueTable, ColumnShape } from './catalogue.js'
import { convert } from './conversions.js'
import { type Approvals, applyCommand, type Difference } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { exampleRows, idsOf, maxExamples, rowCount, valuesOf } from './rowChecks.js'

/** What a table is compared with, and what was approved. */
export interface Comparison {
  readonly database: MigrationDialect
  readonly registry: Registry
  readonly resource: Resource
  readonly current: CatalogueTable
  readonly approvals: Approvals
}

interface ComparedColumn {
  /** The column as it should be. */
  readonly shape: ColumnShape
  readonly differences: readonly Difference[]
}

/** A difference that prevents a start: it must be approved or, without an approval, the rows or the descriptor must change. */
export const blocked = (
  { resource }: Comparison,
  column: string,
  message: string,
  advice: string,
  approval?: string,
): Difference => ({
  table: resource.table,
  column,
  message,
  advice,
  isBlocking: true,
  ...(approval !== undefined && { approval }),
})

const rowsOf = ({ database, current }: Comparison) => ({ database, table: current.name })

/** A value that an approval gives as text. */
const givenValue = (kind: Kind, text: string): GivenValue => {
  const value = kindOf(kind).parse(text)
  return (typeof value === 'bigint' ? Number(value) : value) as GivenValue
}

/** Compares a field with a column whose values are of another kind. */
const compareKind = async (
  comparison: Comparison,
  { name, kind, unique }: Field,
  column: CatalogueColumn,
  shape: ColumnShape,
): Promise<ComparedColumn> => {
  const { database, resource, approvals } = comparison
  const from = column.kind as Kind
  const { type, bind } = database.columnOf(kind)
  const values = await valuesOf(rowsOf(comparison), column.name)
  const converted = values.map(({ value }) => convert(value, from, kind))
  const isStoredAlready = (value: string, to: GivenValue | undefined) =>
    to !== undefined && String(bind?.(to as never) ?? to) === value
  if (column.type === type && values.every(({ value }, n) => isStoredAlready(value, converted[n])))
    return { shape, differences: [] }
  const what = `the field is of kind ${kind}, but the column is of type ${column.type}`
  const refused = (message: string) => {
    const advice = `Correct them${database.correctedWith} (${kindOf(kind).convertible} convert), or make the field ${from}() again.`
    return { shape, differences: [blocked(comparison, name, `${what}, and ${message}.`, advice)] }
  }
  const wrong = values.filter((_, n) => converted[n] === undefined)
  if (wrong.length > 0) {
    const shown = wrong.slice(0, maxExamples).map(({ id, value }) => `${JSON.stringify(value.slice(0, 40))} (id ${id})`)
    const which = `${wrong.length > maxExamples ? ', such as ' : ': '}${shown.join(', ')}`
    return refused(`${wrong.length} of ${values.length} values do not convert${which}`)
  }
  const distinct = (all: readonly unknown[]) => new Set(all).size
  if (unique && distinct(converted) < distinct(values.map(({ value }) => value)))
    return refused('some of its values, which must be unique, would become equal')
  const approval = `retype:${resource.table}.${name}`
  if (approvals.has(approval)) return { shape: { ...shape, type, convertTo: kind }, differences: [] }
  const advice = `To convert them, run: ${applyCommand(approval)}`
  const message = `${what}; all ${values.length} values convert.`
  return { shape, differences: [blocked(comparison, name, message, advice, approval)] }
}

/** The existing table, perhaps under its former name; undefined if it is to be created. */
const presentTable = async ({ database, registry }: Comparison, table: string): Promise<CatalogueTable | undefined> => {
  const current = await database.catalogue(table)
  const former = registry.find((resource) => resource.table === table)?.renamedFromTable
  return current ?? (former === undefined ? undefined : database.catalogue(former))
}

/** Why existing rows cannot get a default: it references a row that does not exist. */
export const compareDefault = async (
  comparison: Comparison,
  { name, references }: Field,
  value: GivenValue,
): Promise<Difference | undefined> => {
  if (references === undefined) return undefined
  const { database, registry } = comparison
  const target = tableNameOf(registry, references)
  const present = await presentTable(comparison, target)
  // A table of another program is refused itself.
  if (present?.isOwn === false) return undefined
  if (present && (await rowCount({ database, table: present.name }, (query) => query.where({ id: value }))) > 0)
    return undefined
  const message = `existing rows would get ${value}, which is not the id of a row in "${target}".`
  return blocked(comparison, name, message, 'Use the id of an existing row, or do not require the field.')
}

/** A difference that a value for every row without one resolves. */
export const fillDifference = (
  comparison: Comparison,
  { name, default: preset }: Field,
  message: string,
): Difference => {
  const approval = `fill:${comparison.resource.table}.${name}`
  const correct = `Correct the rows${comparison.database.correctedWith}, or give them a value`
  if (preset === undefined)
    return blocked(comparison, name, message, `${correct}: ${applyCommand(`${approval}=VALUE`)}`)
  return blocked(comparison, name, message, `To give them the default, run: ${applyCommand(approval)}`, approval)
}

/** The value that was approved for the rows without one, or why it is not valid; undefined if nothing was approved. */
export const approvedFill = async (
  comparison: Comparison,
  field: Field,
): Promise<{ readonly value: GivenValue } | { readonly difference: Difference } | undefined> => {
  const { name, kind, default: preset } = field
  const approval = `fill:${comparison.resource.table}.${name}`
  const given = comparison.approvals.valueOf(approval)
  const constant = typeof preset === 'function' ? preset() : preset
  if (given === undefined && (constant === undefined || !comparison.approvals.has(approval))) return undefined
  const value = given === undefined ? (constant as GivenValue) : givenValue(kind, given)
  if (given === '' || refusalOf(field, value)) {
    const message = `${JSON.stringify(given)} was given for the rows without a value, but the field is ${kindOf(kind).expected}.`
    return { difference: blocked(comparison, name, message, `Use the form ${approval}=VALUE.`) }
  }
  const difference = await compareDefault(comparison, field, value)
  return difference ? { difference } : { value }
}

/** The rows without a value that the descriptor newly requires, and the value that they get, if that was approved. */
const compareNulls = async (
  comparison: Comparison,
  field: Field,
  column: CatalogueColumn,
): Promise<{ readonly value?: GivenValue; readonly difference?: Difference }> => {
  const empty = await exampleRows(rowsOf(comparison), (query) => query.whereNull(column.name))
  if (empty.count === 0) return {}
  const message = `the descriptor requires a value, but ${idsOf(empty)} none.`
  return (await approvedFill(comparison, field)) ?? { difference: fillDifference(comparison, field, message) }
}

/** A reference to another table than before: the same ids would mean other rows, or none. */
const compareTarget = async (
  comparison: Comparison,
  { name, kind, references }: Field,
  column: CatalogueColumn,
  before: string | undefined,
  target: string,
): Promise<Difference[]> => {
  const { database, resource, approvals } = comparison
  const { knex } = database
  const differences: Difference[] = []
  const approval = `retarget:${resource.table}.${name}`
  if (before !== undefined && !approvals.has(approval)) {
    const message = `the field references ${references}, but the ids in the column are those of "${before}", not of "${target}".`
    const advice = `If they are the ids of "${target}" too, run: ${applyCommand(approval)}`
    differences.push(blocked(comparison, name, message, advice, approval))
  }
  const present = await presentTable(comparison, target)
  // A table of another program is refused itself.
  if (present?.isOwn === false) return differences
  const asText = (column: string) => knex.raw('cast(?? as text)', [column]) as never
  const lost = await exampleRows(rowsOf(comparison), (query) => {
    const given = query.whereNotNull(column.name)
    if (present === undefined) return given
    if (column.kind === kind) return given.whereNotIn(column.name, knex(present.name).select('id'))
    return given.whereNotIn(asText(column.name), knex(present.name).select(asText('id')))
  })
  if (lost.count === 0) return differences
  const message = `the field references ${references}, but ${idsOf(lost)} a value that is not the id of a row in "${target}".`
  const advice = `Correct these values or set them to null${database.correctedWith}, or remove references from the field.`
  return [...differences, blocked(comparison, name, message, advice)]
}

/** Compares a field with the column that has its values. */
export const compareColumn = async (
  comparison: Comparison,
  field: Field,
  column: CatalogueColumn,
  shape: ColumnShape,
): Promise<ComparedColumn> => {
  const { database, registry } = comparison
  const { kind, required, references, redacted, onDelete = 'restrict' } = field
  if (column.kind === undefined) {
    const message = `the column is of type ${column.type || 'none'}, which no field can store.`
    const advice = 'Change the type of the column, or remove the field.'
    return { shape, differences: [blocked(comparison, field.name, message, advice)] }
  }
  // Nothing says of which kind the values of a redacted column are, unless its type does.
  const isKept = column.kind === kind || (redacted && column.type === database.columnOf(kind).type)
  const typed = isKept ? { shape, differences: [] } : await compareKind(comparison, field, column, shape)
  const wanted = references === undefined ? undefined : tableNameOf(registry, references)
  // A key to a table that is renamed follows it.
  const present = wanted === undefined ? undefined : await presentTable(comparison, wanted)
  const target = present && present.name === shape.target ? shape.target : wanted
  const isNewTarget = target !== undefined && target !== shape.target
  const fill = required && !column.isNotNull ? await compareNulls(comparison, field, column) : {}
  const moved = isNewTarget ? await compareTarget(comparison, field, column, shape.target, target) : []
  return {
    shape: { ...typed.shape, isNotNull: required, target, onDelete, fill: fill.value },
    differences: [...typed.differences, ...(fill.difference ? [fill.difference] : []), ...moved],
  }
}
