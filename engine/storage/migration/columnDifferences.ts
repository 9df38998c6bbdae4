/** Compares a field with its column: the type, NOT NULL and the foreign key. */
import { type Kind, kindOf } from '../../descriptor/kinds.js'
import type { Field, GivenValue, Registry, Resource } from '../../descriptor/registry.js'
import { refusalOf } from '../../descriptor/valueRules.js'
import { tableNameOf } from '../schema.js'
import type { CatalogueColumn, CatalogueTable, ColumnShape } from './catalogue.js'
import { convertible, converts } from './conversions.js'
import { type Approvals, applyCommand, type Difference } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { exampleRows, idsOf, rowCount, valuesOf } from './rowChecks.js'

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

/** A difference that a change of the rows or of the descriptor must resolve. */
export const blocked = ({ resource }: Comparison, column: string, message: string, advice: string): Difference => ({
  table: resource.table,
  column,
  message,
  advice,
  isBlocking: true,
})

const rowsOf = ({ database, current }: Comparison) => ({ database, table: current.name })

/** A value that an approval gives as text. */
const givenValue = (kind: Kind, text: string): GivenValue => {
  const value = kindOf(kind).parse(text)
  return (typeof value === 'bigint' ? Number(value) : value) as GivenValue
}

const maxExamples = 3

/** Compares the type of a column whose values are of another kind. */
const compareKind = async (
  comparison: Comparison,
  { name, kind }: Field,
  column: CatalogueColumn,
  shape: ColumnShape,
): Promise<ComparedColumn> => {
  const { database, resource, approvals } = comparison
  const what = `the field is of kind ${kind}, but the column is of type ${column.type}`
  const values = await valuesOf(rowsOf(comparison), column.name)
  const wrong = values.filter(({ value }) => !converts(value, column.kind ?? 'text', kind))
  if (wrong.length > 0) {
    const shown = wrong.slice(0, maxExamples).map(({ id, value }) => `${JSON.stringify(value.slice(0, 40))} (id ${id})`)
    const which = `${wrong.length > maxExamples ? ', such as ' : ': '}${shown.join(', ')}`
    const message = `${what}, and ${wrong.length} of ${values.length} values do not convert${which}.`
    const advice = `Correct them${database.correctedWith} (${convertible[kind]} convert), or make the field ${column.kind}() again.`
    return { shape, differences: [blocked(comparison, name, message, advice)] }
  }
  const approval = `retype:${resource.table}.${name}`
  if (approvals.has(approval)) {
    return { shape: { ...shape, type: database.columnOf(kind).type, convertTo: kind }, differences: [] }
  }
  const message = `${what}; all ${values.length} values convert.`
  const advice = `To convert them, run: ${applyCommand(approval)}`
  return { shape, differences: [{ ...blocked(comparison, name, message, advice), approval }] }
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
  // The table that is referenced is refused itself.
  if (present?.hasId === false) return undefined
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
  if (preset === undefined)
    return blocked(
      comparison,
      name,
      message,
      `Correct the rows${comparison.database.correctedWith}, or give them a value: ${applyCommand(`${approval}=VALUE`)}`,
    )
  const advice = `To give them the default, run: ${applyCommand(approval)}`
  return { ...blocked(comparison, name, message, advice), approval }
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

/** Finds rows that contradict what the descriptor newly requires of a column. */
const compareRows = async (
  comparison: Comparison,
  field: Field,
  column: CatalogueColumn,
  target: string | undefined,
): Promise<Difference[]> => {
  const { database, current } = comparison
  const { name, kind, references, redacted } = field
  const differences: Difference[] = []
  // A table of the engine has such values only if another program has stored them since.
  const isUnservable =
    current.origin === 'unknown' && !redacted ? database.isUnservable({ ...field, name: column.name }) : undefined
  if (isUnservable && column.kind === kind) {
    const unservable = await exampleRows(rowsOf(comparison), (query) =>
      query.whereNotNull(column.name).whereRaw(isUnservable as never),
    )
    const message = `${idsOf(unservable)} a value that is not ${kindOf(kind).expected}, and would be served as null.`
    const advice = `Correct these values${database.correctedWith}, or remove the field.`
    if (unservable.count > 0) differences.push(blocked(comparison, name, message, advice))
  }
  if (target !== undefined) {
    const { knex } = database
    const asText = (name: string) => knex.raw('cast(?? as text)', [name]) as never
    const present = await presentTable(comparison, target)
    // The table that is referenced is refused itself.
    if (present?.hasId === false) return differences
    const lost = await exampleRows(rowsOf(comparison), (query) => {
      const given = query.whereNotNull(column.name)
      if (present === undefined) return given
      if (column.kind === kind) return given.whereNotIn(column.name, knex(present.name).select('id'))
      return given.whereNotIn(asText(column.name), knex(present.name).select(asText('id')))
    })
    const message = `the field references ${references}, but ${idsOf(lost)} a value that is not the id of a row in "${target}".`
    const advice = `Correct these values or set them to null${database.correctedWith}, or remove references from the field.`
    if (lost.count > 0) differences.push(blocked(comparison, name, message, advice))
  }
  return differences
}

/** The rows without a value that the descriptor newly requires, and the value that they get, if that was approved. */
const compareNulls = async (
  comparison: Comparison,
  field: Field,
  column: CatalogueColumn,
): Promise<{ readonly value?: GivenValue; readonly difference?: Difference }> => {
  const empty = await exampleRows(rowsOf(comparison), (query) => query.whereNull(column.name))
  if (empty.count === 0) return {}
  const filled = await approvedFill(comparison, field)
  if (filled) return filled
  const message = `the descriptor requires a value, but ${idsOf(empty)} none.`
  return { difference: fillDifference(comparison, field, message) }
}

/** A reference that moves to another table: the same ids would mean other rows. */
const compareTarget = (
  comparison: Comparison,
  { name, references }: Field,
  before: string | undefined,
  after: string,
): Difference[] => {
  const approval = `retarget:${comparison.resource.table}.${name}`
  if (before === undefined || comparison.approvals.has(approval)) return []
  const message = `the field references ${references}, but the ids in the column are those of "${before}", not of "${after}".`
  const advice = `If they are the ids of "${after}" too, run: ${applyCommand(approval)}`
  return [{ ...blocked(comparison, name, message, advice), approval }]
}

/** Compares a field with the column that has its values. */
export const compareColumn = async (
  comparison: Comparison,
  field: Field,
  column: CatalogueColumn,
  shape: ColumnShape,
): Promise<ComparedColumn> => {
  const { registry, current } = comparison
  const { required, references } = field
  if (column.kind === undefined) {
    const message = `the column is of type ${column.type || 'none'}, which no field can store.`
    const advice = 'Change the type of the column, or remove the field.'
    return { shape, differences: [blocked(comparison, field.name, message, advice)] }
  }
  if (column.whyReadOnly != null && comparison.resource.create && current.origin !== 'engine') {
    const message = `a create cannot set the column, because ${column.whyReadOnly}.`
    const advice = 'Remove the field, or set create to false.'
    return { shape, differences: [blocked(comparison, field.name, message, advice)] }
  }
  const typed =
    column.kind === field.kind ? { shape, differences: [] } : await compareKind(comparison, field, column, shape)
  const wanted = references === undefined ? undefined : tableNameOf(registry, references)
  // A key to a table that is renamed follows it.
  const present = wanted === undefined ? undefined : await presentTable(comparison, wanted)
  const isFollowing = present !== undefined && present.name === shape.target
  const target = isFollowing ? shape.target : wanted
  // Foreign keys are only added to tables of the engine.
  const isNewTarget = target !== shape.target && current.origin === 'engine'
  const fill = required && !column.isNotNull ? await compareNulls(comparison, field, column) : {}
  const rows = await compareRows(comparison, field, column, isNewTarget ? target : undefined)
  const moved = isNewTarget && target !== undefined ? compareTarget(comparison, field, shape.target, target) : []
  return {
    shape: { ...typed.shape, isNotNull: required, target, fill: fill.value },
    differences: [...typed.differences, ...moved, ...(fill.difference ? [fill.difference] : []), ...rows],
  }
}
