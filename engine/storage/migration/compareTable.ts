/** Compares a descriptor with its table: the shape that it should have, and the differences that need a maintainer. */
import { type Kind, kindOf } from '../../descriptor/kinds.js'
import { didYouMean } from '../../descriptor/nearest.js'
import type { Field, GivenValue, Registry, Resource } from '../../descriptor/registry.js'
import { refusalOf } from '../../descriptor/valueRules.js'
import { constantDefault, fieldOf, indexesOf, resourceAt, targetTable } from '../schema.js'
import {
  type CatalogueColumn,
  type CatalogueTable,
  type ColumnShape,
  currentShape,
  findColumn,
  type TableShape,
} from './catalogue.js'
import { convert } from './conversions.js'
import { type Approvals, applyCommand, type TableDifferences } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { describeRows, maxExamples, rowQueries } from './rows.js'

interface ComparedTable {
  /** The table as it should be, without the fields that it lacks. */
  readonly shape: TableShape
  /** The fields that it lacks; a required one has a default, which its column gets in every row. */
  readonly added: readonly Field[]
  /** The columns that stay although no field uses them, not even one that was renamed. */
  readonly unused: readonly CatalogueColumn[]
}

interface Compared {
  readonly database: MigrationDialect
  readonly registry: Registry
  readonly resource: Resource
  readonly current: CatalogueTable
  readonly approvals: Approvals
  readonly differences: TableDifferences
}

interface Comparison extends Compared {
  readonly rows: ReturnType<typeof rowQueries>
  readonly unused: readonly CatalogueColumn[]
}

/** Compares a field with a column whose values are of another kind; returns the column as it should be. */
const compareKind = async (
  { database, resource, rows, differences }: Comparison,
  { name, kind, unique }: Field,
  column: CatalogueColumn,
  shape: ColumnShape,
): Promise<ColumnShape> => {
  const from = column.kind as Kind
  const { type, bind } = database.columnOf(kind)
  const values = await rows.values(column.name)
  const converted = values.map(({ value }) => convert(value, from, kind))
  const isStoredAlready = (value: string, to: GivenValue | undefined) =>
    to !== undefined && String(bind?.(to as never) ?? to) === value
  if (column.type === type && values.every(({ value }, n) => isStoredAlready(value, converted[n]))) return shape
  const what = `the field is of kind ${kind}, but the column is of type ${column.type}`
  const refuse = (reason: string): ColumnShape => {
    const advice = `Correct them${database.correctedWith} (${kindOf(kind).convertible} convert), or make the field ${from}() again.`
    differences.add(`${what}, and ${reason}.`, advice, name)
    return shape
  }
  const wrong = values.filter((_, n) => converted[n] === undefined)
  if (wrong.length > 0) {
    const shown = wrong.slice(0, maxExamples).map(({ id, value }) => `${JSON.stringify(value.slice(0, 40))} (id ${id})`)
    const which = `${wrong.length > maxExamples ? ', such as ' : ': '}${shown.join(', ')}`
    return refuse(`${wrong.length} of ${values.length} values do not convert${which}`)
  }
  if (unique && new Set(converted).size < new Set(values.map(({ value }) => value)).size)
    return refuse('some of its values, which must be unique, would become equal')
  const message = `${what}; all ${values.length} values convert.`
  return differences.isApproved(`retype:${resource.table}.${name}`, message, 'To convert them, run:', name)
    ? { ...shape, type, convertTo: kind }
    : shape
}

/** The existing table, perhaps under its former name; undefined if it is to be created. */
const presentTable = async ({ database, registry }: Comparison, table: string): Promise<CatalogueTable | undefined> => {
  const current = await database.catalogue(table)
  const former = registry.find((resource) => resource.table === table)?.renamedFromTable
  return current ?? (former === undefined ? undefined : database.catalogue(former))
}

/** Whether rows can get a value: what it references must exist. */
const canReference = async (
  comparison: Comparison,
  { name, references }: Field,
  value: GivenValue,
): Promise<boolean> => {
  if (references === undefined) return true
  const { database, registry, differences } = comparison
  const { table: target, existing } = resourceAt(registry, references)
  if (existing) return true
  const present = await presentTable(comparison, target)
  // A table of another program is refused itself.
  if (present?.isOwn === false) return true
  if (present && (await rowQueries(database, present.name).count((query) => query.where({ id: value }))) > 0)
    return true
  const message = `existing rows would get ${value}, which is not the id of a row in "${target}".`
  differences.add(message, 'Use the id of an existing row, or do not require the field.', name)
  return false
}

/** The value for the rows without one, if it was approved: the one that was given, or the default. */
const approvedFill = async (comparison: Comparison, field: Field, message: string): Promise<GivenValue | undefined> => {
  const { database, resource, approvals, differences } = comparison
  const { name, kind, default: preset } = field
  const approval = `fill:${resource.table}.${name}`
  const given = approvals.valueOf(approval)
  if (given === undefined && preset === undefined) {
    const advice = `Correct the rows${database.correctedWith}, or give them a value: ${applyCommand(`${approval}=VALUE`)}`
    differences.add(message, advice, name)
    return undefined
  }
  if (given === undefined && !differences.isApproved(approval, message, 'To give them the default, run:', name))
    return undefined
  const parsed = given === undefined ? (typeof preset === 'function' ? preset() : preset) : kindOf(kind).parse(given)
  const value = (typeof parsed === 'bigint' ? Number(parsed) : parsed) as GivenValue
  if (given === '' || refusalOf(field, value)) {
    const wrong = `${JSON.stringify(given)} was given for the rows without a value, but the field is ${kindOf(kind).expected}.`
    differences.add(wrong, `Use the form ${approval}=VALUE.`, name)
    return undefined
  }
  return (await canReference(comparison, field, value)) ? value : undefined
}

/** A reference to another table than before: the same ids would mean other rows, or none. */
const compareTarget = async (
  comparison: Comparison,
  { name, kind, references }: Field,
  column: CatalogueColumn,
  before: string | undefined,
  target: string,
): Promise<void> => {
  const { database, resource, rows, differences } = comparison
  const { knex } = database
  if (before !== undefined) {
    const message = `the field references ${references}, but the ids in the column are those of "${before}", not of "${target}".`
    const advice = `If they are the ids of "${target}" too, run:`
    differences.isApproved(`retarget:${resource.table}.${name}`, message, advice, name)
  }
  const present = await presentTable(comparison, target)
  // A table of another program is refused itself.
  if (present?.isOwn === false) return
  const asText = (of: string) => knex.raw('cast(?? as text)', [of]) as never
  const lost = await rows.examples((query) => {
    const given = query.whereNotNull(column.name)
    if (present === undefined) return given
    if (column.kind === kind) return given.whereNotIn(column.name, knex(present.name).select('id'))
    return given.whereNotIn(asText(column.name), knex(present.name).select(asText('id')))
  })
  if (lost.count === 0) return
  const message = `the field references ${references}, but ${describeRows(lost)} a value that is not the id of a row in "${target}".`
  const advice = `Correct these values or set them to null${database.correctedWith}, or remove references from the field.`
  differences.add(message, advice, name)
}

/** Compares a field with the column that has its values; returns the column as it should be. */
const compareColumn = async (
  comparison: Comparison,
  field: Field,
  column: CatalogueColumn,
  shape: ColumnShape,
): Promise<ColumnShape> => {
  const { database, registry, rows, differences } = comparison
  const { name, kind, required, redacted, onDelete = 'restrict' } = field
  if (column.kind === undefined) {
    const message = `the column is of type ${column.type || 'none'}, which no field can store.`
    differences.add(message, 'Change the type of the column, or remove the field.', name)
    return shape
  }
  // Nothing says of which kind the values of a redacted column are, unless its type does.
  const isKept = column.kind === kind || (redacted && column.type === database.columnOf(kind).type)
  const typed = isKept ? shape : await compareKind(comparison, field, column, shape)
  let fill: GivenValue | undefined
  if (required && !column.isNotNull) {
    const empty = await rows.examples((query) => query.whereNull(column.name))
    const message = `the descriptor requires a value, but ${describeRows(empty)} none.`
    if (empty.count > 0) fill = await approvedFill(comparison, field, message)
  }
  const wanted = targetTable(registry, field)
  // A key to a table that is renamed follows it.
  const present = wanted === undefined ? undefined : await presentTable(comparison, wanted)
  const target = present && present.name === shape.target ? shape.target : wanted
  if (target !== undefined && target !== shape.target)
    await compareTarget(comparison, field, column, shape.target, target)
  return { ...typed, isNotNull: required, target, onDelete, fill }
}

/** Compares a field that has no column; returns the field whose column can be added, if it can. */
const compareMissing = async (comparison: Comparison, field: Field): Promise<Field | undefined> => {
  const { resource, approvals, rows, unused, differences } = comparison
  const { name, kind, required, renamedFrom } = field
  const count = await rows.count()
  if (count === 0) return field
  const similar = unused.filter((column) => column.kind === kind && !column.isKnownUnused)
  const add = `add:${resource.table}.${name}`
  if (renamedFrom !== undefined) {
    const names = unused.map((column) => column.name)
    const message = `the field was renamed from "${renamedFrom}", but the table has neither column${didYouMean(renamedFrom, names) || '.'}`
    if (!differences.isApproved(add, message, 'If the field is new, run:', name)) return undefined
  } else if (similar.length > 0) {
    const message = `the column does not exist, and no field uses "${similar.map((column) => column.name).join('", "')}".`
    const advice = 'If the field was renamed, give it renamedFrom. If it is new, run:'
    if (!differences.isApproved(add, message, advice, name)) return undefined
  }
  if (!required) return field
  const preset = constantDefault(field)
  const fill = `fill:${resource.table}.${name}`
  if (preset !== undefined && !approvals.has(fill) && approvals.valueOf(fill) === undefined)
    return (await canReference(comparison, field, preset)) ? field : undefined
  const message = `the column does not exist, and the descriptor requires a value in each of the ${count} rows.`
  const value = await approvedFill(comparison, field, message)
  return value === undefined ? undefined : { ...field, default: value }
}

const isDropped = async (
  { resource, rows, differences }: Comparison,
  { name, isNotNull, default: preset }: CatalogueColumn,
): Promise<boolean> => {
  const count = await rows.count((query) => query.whereNotNull(name))
  const isBlocking = resource.create && isNotNull && preset === null
  const message = isBlocking
    ? 'no field uses the column, but it is NOT NULL, so no row could be created.'
    : `no field uses the column, so its ${count} values are not served.`
  const advice = `${isBlocking ? 'Add the field again, or' : 'To remove the column,'} drop it with its ${count} values:`
  return differences.isApproved(`drop:${resource.table}.${name}`, message, advice, name, isBlocking)
}

/** Whether a renamed field takes its former column, in a table that has both. */
const isReplaced = async (
  { resource, approvals, rows, differences }: Comparison,
  { name }: CatalogueColumn,
  former: string,
): Promise<boolean> => {
  const approval = `drop:${resource.table}.${name},rename:${resource.table}.${former}`
  if (approvals.has(approval)) return true
  const [values, formerValues] = [
    await rows.count((query) => query.whereNotNull(name)),
    await rows.count((query) => query.whereNotNull(former)),
  ]
  const message = `the field was renamed from "${former}", but the table has both columns: "${former}" has ${formerValues} values, and "${name}" has ${values}.`
  const advice = `If "${former}" has the right values, drop the others and rename it: ${applyCommand(approval)}. Otherwise remove renamedFrom.`
  differences.add(message, advice, name, approval)
  return false
}

const compareUnique = async (
  { database, resource, current, rows, differences }: Comparison,
  shapes: readonly ColumnShape[],
  added: readonly Field[],
): Promise<void> => {
  /** The column that has the values of a field now; null if every row will have the same value, undefined if none will have one. */
  const presentColumn = (name: string): string | null | undefined => {
    const field = fieldOf(resource, name)
    const column =
      shapes.find((shape) => shape.name === name)?.from ?? findColumn(current, field.renamedFrom ?? name)?.name
    if (column !== undefined) return column
    const gained = added.find((one) => one.name === name)
    return gained?.required && constantDefault(gained) !== undefined ? null : undefined
  }
  const { isCurrent } = await database.existingObjects(resource)
  for (const index of indexesOf(database, resource).filter(({ unique }) => unique)) {
    const { unique = [] } = index
    const columns = unique.map(presentColumn)
    // Null is not equal to null.
    if (isCurrent(index) || columns.includes(undefined)) continue
    const shared = await rows.duplicates(columns.filter((column) => column != null))
    const message = `the descriptor says that (${unique.join(', ')}) is unique, but ${shared}.`
    if (shared) differences.add(message, `Change the rows${database.correctedWith}, or remove unique from the field.`)
  }
}

export const compareTable = async (compared: Compared): Promise<ComparedTable> => {
  const { database, resource, current, differences } = compared
  const isUsed = (column: string) =>
    resource.fields.some(
      ({ name, renamedFrom }) => name === column || (renamedFrom === column && !findColumn(current, name)),
    )
  const unused = current.columns.filter(({ name }) => !isUsed(name))
  const comparison: Comparison = { ...compared, rows: rowQueries(database, current.name), unused }
  const shapes = new Map<string, ColumnShape>(currentShape(current).columns.map((shape) => [shape.name, shape]))
  const added: Field[] = []
  for (const field of resource.fields.filter(({ name }) => name !== 'id')) {
    const { name, renamedFrom } = field
    const former = renamedFrom === undefined ? undefined : findColumn(current, renamedFrom)
    let column = findColumn(current, name)
    if (column && former) {
      if (!(await isReplaced(comparison, column, former.name))) continue
      shapes.delete(name)
      column = former
    } else if (former) {
      const approval = `rename:${resource.table}.${former.name}`
      const message = `the field was renamed from "${former.name}".`
      differences.isApproved(approval, message, 'To rename the column, run:', name)
      column = former
    }
    if (column) {
      const shape = await compareColumn(comparison, field, column, shapes.get(column.name) as ColumnShape)
      shapes.set(column.name, { ...shape, name })
    } else {
      const addable = await compareMissing(comparison, field)
      if (addable) added.push(addable)
    }
  }
  const isRenamed = ({ name }: CatalogueColumn) => shapes.get(name)?.name !== name
  for (const column of unused.filter((one) => !isRenamed(one)))
    if (await isDropped(comparison, column)) shapes.delete(column.name)
  const columns = [...shapes.values()]
  await compareUnique(comparison, columns, added)
  return { shape: { name: resource.table, columns }, added, unused: unused.filter(({ name }) => shapes.has(name)) }
}
