/** Compares a descriptor with its table: the shape that it should have, and the differences that need a maintainer. */
import type { Knex } from 'knex'
import { JsonText } from '../../descriptor/jsonText.js'
import { boundValue, isJson, isText, type KindSpec, kindOf } from '../../descriptor/kinds/index.js'
import { didYouMean } from '../../descriptor/nearest.js'
import {
  canonicalValue,
  type Field,
  type GivenValue,
  idField,
  type Registry,
  type Resource,
} from '../../descriptor/registry.js'
import { findViolation } from '../../descriptor/valueRules.js'
import { Violation } from '../../descriptor/violations.js'
import { constantDefault, findField, resourceAt, resourceIndexes, wantedForeignKey } from '../schema.js'
import {
  type CatalogueColumn,
  type CatalogueTable,
  type ColumnDefinition,
  describeKind,
  findColumn,
} from './catalogue.js'
import { convert, displayText } from './conversions.js'
import { applyCommand, type TableDifferences } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { describeRows, maxExamples, rowQueries } from './rows.js'

/** Whether a column has the values of a field. */
const isSameKind = (column: KindSpec, { kind, digits, places }: Field): boolean =>
  column.kind === kind && column.places === places && column.digits === digits

/** The value that a text of an approval names; or why the field does not take it. */
const parseGiven = (field: Field, text: string): GivenValue | Violation => {
  const parsed = kindOf(field.kind).parse(text, field)
  if (parsed instanceof Violation) return parsed
  const value = (typeof parsed === 'bigint' ? Number(parsed) : parsed) as GivenValue
  return findViolation(field, value) ?? value
}

/** The most values that a plan suggests to replace, one by one. */
const maxReplaced = 10

/**
 * Returns the shape of the table as it should be; the fields that it lacks, of which a required one has a default that its
 * column gets in every row; and the columns that stay although no field uses them.
 */
export const compareTable = async (
  database: MigrationDialect,
  registry: Registry,
  resource: Resource,
  current: CatalogueTable,
  { approvals, add, isApproved }: TableDifferences,
  isNewField: (table: string, field: string) => boolean,
) => {
  const { table, fields } = resource
  const rows = rowQueries(database, current.name)
  const isUsed = (column: string) =>
    fields.some(({ name, renamedFrom }) => name === column || (renamedFrom === column && !findColumn(current, name)))
  const unused = current.columns.filter(({ name }) => !isUsed(name))
  const countValues = (column: string) => rows.count((query) => query.whereNotNull(column))

  /** How a column changes whose values are of another kind than those of its field. */
  const compareKind = async (field: Field, column: CatalogueColumn): Promise<Partial<ColumnDefinition>> => {
    const { name, kind, unique } = field
    const from = column as KindSpec
    const { type, bind } = database.columnOf(field)
    const currentColumn = database.columnOf(from)
    const values = await rows.values(column.name, currentColumn)
    const converted = values.map(({ value }) => convert(value, from, currentColumn, field))
    const isStoredAlready = (value: string, to: GivenValue | undefined) =>
      to !== undefined && String(bind?.(to as never) ?? to) === value
    if (column.type === type && values.every(({ value }, n) => isStoredAlready(value, converted[n]))) return {}
    const what =
      kind === from.kind
        ? `the field is ${describeKind(field)}, but the column has the values of ${describeKind(from)}`
        : `the field is of kind ${kind}, but the column is of type ${column.type}`
    const refuse = (reason: string) => {
      const advice = `Correct them (${kindOf(kind).convertible} convert), or make the field ${describeKind(from)} again.`
      add(`${what}, and ${reason}.`, advice, name)
      return {}
    }
    const unconverted = values.filter((_, n) => converted[n] === undefined)
    if (unconverted.length > 0) {
      const examples = unconverted
        .slice(0, maxExamples)
        .map(({ id, value }) => `${JSON.stringify(displayText(value, currentColumn).slice(0, 40))} (id ${id})`)
      const which = `${unconverted.length > maxExamples ? ', such as ' : ': '}${examples.join(', ')}`
      return refuse(`${unconverted.length} of ${values.length} values do not convert${which}`)
    }
    if (unique && new Set(converted).size < new Set(values.map(({ value }) => value)).size)
      return refuse('some of its values, which must be unique, would become equal')
    // Values that convert may still break a rule of the field.
    const broken = [...new Set(converted)].filter((value) => value !== undefined && findViolation(field, value))
    const replaced = new Set(approvals.after(`set:${table}.${name}:`).map((given) => given.split('=', 1)[0]))
    const unreplaced = broken.map(String).filter((value) => !replaced.has(value))
    if (unreplaced.length > 0 && unreplaced.length <= maxReplaced) {
      const approval = [
        `retype:${table}.${name}`,
        ...unreplaced.map((value) => `set:${table}.${name}:${value}=VALUE`),
      ].join()
      const message = `${what}; all ${values.length} values convert, but not to values that the field allows: ${unreplaced.map((value) => JSON.stringify(value)).join(', ')}.`
      add(message, `To convert and replace them, run, with a value for each: ${applyCommand(approval)}`, name)
      return {}
    }
    const message = `${what}; all ${values.length} values convert.`
    const isWanted = isApproved(`retype:${table}.${name}`, message, 'To convert them, run:', name)
    return isWanted ? { type, convertTo: field } : {}
  }

  /** An existing table, perhaps under its former name; undefined if it is to be created. */
  const presentTable = async (name: string): Promise<CatalogueTable | undefined> => {
    const former = registry.find((other) => other.table === name)?.renamedFromTable
    return (await database.catalogue(name)) ?? (former === undefined ? undefined : database.catalogue(former))
  }

  /** Whether rows can get a value: what it references must exist. */
  const canReference = async ({ name, references }: Field, value: GivenValue): Promise<boolean> => {
    const target = references === undefined ? undefined : resourceAt(registry, references)
    if (!target || target.existing) return true
    const present = await presentTable(target.table)
    // A table of another program is refused itself.
    if (present?.isOwn === false) return true
    if (present && (await rowQueries(database, present.name).count((query) => query.where({ id: value }))) > 0)
      return true
    const message = `existing rows would get ${value}, which is not the id of a row in "${target.table}".`
    add(message, 'Use the id of an existing row, or do not require the field.', name)
    return false
  }

  /** The value for the rows without one, if it was approved: the one that was given, or the default, which a new field has by itself. */
  const approvedFill = async (field: Field, message: string): Promise<GivenValue | undefined> => {
    const { name, kind, default: preset } = field
    const approval = `fill:${table}.${name}`
    const givenText = approvals.valueOf(approval)
    const isDefaulted = constantDefault(field) !== undefined && isNewField(table, name)
    if (givenText === undefined && preset === undefined) {
      const advice = `Correct the rows, or give them a value: ${applyCommand(`${approval}=VALUE`)}`
      add(message, advice, name)
      return undefined
    }
    if (
      givenText === undefined &&
      !isDefaulted &&
      !isApproved(approval, message, 'To give them the default, run:', name)
    )
      return undefined
    const value =
      givenText === undefined
        ? ((typeof preset === 'function' ? preset() : preset) as GivenValue)
        : parseGiven(field, givenText)
    if (givenText === '' || value instanceof Violation) {
      const formMessage = `${JSON.stringify(givenText)} was given for the rows without a value, but the field is ${kindOf(kind).expected}.`
      add(formMessage, `Use the form ${approval}=VALUE.`, name)
      return undefined
    }
    if (!(await canReference(field, value))) return undefined
    const isJsonText = givenText !== undefined && isJson(field)
    return canonicalValue(field, isJsonText ? new JsonText(String(value)) : value) as GivenValue
  }

  /** The statements that replace values, as approved by `set:TABLE.COLUMN:OLD=NEW`. */
  const replacements: { readonly change: string; readonly sql: string }[] = []
  const compareReplacements = async (field: Field, column: CatalogueColumn): Promise<void> => {
    const { name, kind, digits } = field
    // Once the column has its name and kind, in a later pass.
    const isLater = !isSameKind(column as KindSpec, field) || column.name !== name
    const definition = database.columnOf(field)
    const beginning = `set:${table}.${name}:`
    for (const replacement of approvals.after(beginning)) {
      const [before = '', after = ''] = replacement.split(/=(.*)/s)
      const value = parseGiven(field, after)
      if (after === '' || value instanceof Violation) {
        const reason = value instanceof Violation ? value.message : 'needs a value'
        const formMessage = `${JSON.stringify(after)} was given instead of ${JSON.stringify(before)}, but the field ${reason}.`
        add(formMessage, `Use the form ${beginning}OLD=NEW.`, name)
        continue
      }
      const old = kindOf(kind).parse(before, field)
      // A decimal has several texts.
      const oldText = digits !== undefined && !(old instanceof Violation) ? boundValue(definition, old) : before
      const isOld = (query: Knex.QueryBuilder) =>
        query.whereRaw('cast(?? as text) = ?', [isLater ? column.name : name, String(oldText)])
      if (!isLater && (await rows.count(isOld)) === 0) continue
      approvals.has(`${beginning}${replacement}`)
      const bound = boundValue(definition, value)
      const stored = (typeof bound === 'bigint' ? database.knex.raw(String(bound)) : bound) as string
      const change = `${name} becomes ${JSON.stringify(value)} where it is ${JSON.stringify(before)}`
      if (!isLater) replacements.push({ change, sql: isOld(database.knex(table)).update(name, stored).toString() })
    }
  }

  /** A reference to another table than before: the same ids would mean other rows, or none. */
  const compareTarget = async (
    { name, kind, references }: Field,
    column: CatalogueColumn,
    target: string,
    present: CatalogueTable | undefined,
  ): Promise<void> => {
    const { knex } = database
    const before = column.foreignKey?.target
    if (before !== undefined) {
      const message = `the field references ${references}, but the ids in the column are those of "${before}", not of "${target}".`
      isApproved(`retarget:${table}.${name}`, message, `If they are the ids of "${target}" too, run:`, name)
    }
    // A table of another program is refused itself.
    if (present?.isOwn === false) return
    const asText = (of: string) => knex.raw('cast(?? as text)', [of]) as never
    const lost = await rows.examples((query) => {
      const withValue = query.whereNotNull(column.name)
      if (present === undefined) return withValue
      if (column.kind === kind) return withValue.whereNotIn(column.name, knex(present.name).select('id'))
      return withValue.whereNotIn(asText(column.name), knex(present.name).select(asText('id')))
    })
    if (lost.count === 0) return
    const message = `the field references ${references}, but ${describeRows(lost)} a value that is not the id of a row in "${target}".`
    const advice = `Correct these values or set them to null, or remove references from the field.`
    add(message, advice, name)
  }

  /** Compares a field with the column that has its values; returns the column as it should be. */
  const compareColumn = async (field: Field, column: CatalogueColumn): Promise<ColumnDefinition> => {
    const { name, required, redacted } = field
    const kept = { ...column, name, from: column }
    if (column.kind === undefined) {
      const message = `the column is of type ${column.type || 'none'}, which no field can store.`
      add(message, 'Change the type of the column, or remove the field.', name)
      return kept
    }
    // Nothing says of which kind the values of a redacted column are, unless its type does.
    await compareReplacements(field, column)
    const isOfKind =
      isSameKind(column as KindSpec, field) || (redacted && column.type === database.columnOf(field).type)
    const typed = isOfKind ? {} : await compareKind(field, column)
    let fill: GivenValue | undefined
    if (required && !column.isNotNull) {
      const empty = await rows.examples((query) => query.whereNull(column.name))
      const message = `the descriptor requires a value, but ${describeRows(empty)} none.`
      if (empty.count > 0) fill = await approvedFill(field, message)
    }
    const shape = { ...kept, ...typed, isNotNull: required, fill }
    const wanted = wantedForeignKey(registry, field)
    if (!wanted) return { ...shape, foreignKey: undefined }
    const present = await presentTable(wanted.target)
    const before = column.foreignKey?.target
    // A key to a table that is renamed follows it.
    if (before !== undefined && present?.name === before) return { ...shape, foreignKey: { ...wanted, target: before } }
    if (wanted.target !== before) await compareTarget(field, column, wanted.target, present)
    return { ...shape, foreignKey: wanted }
  }

  /** Compares a field that has no column; returns the field whose column can be added, if it can. */
  const compareMissing = async (field: Field): Promise<Field | undefined> => {
    const { name, kind, required, renamedFrom } = field
    const count = await rows.count()
    if (count === 0) return field
    const similar = unused.filter((column) => column.kind === kind && !column.isKnownUnused)
    const approval = `add:${table}.${name}`
    if (renamedFrom !== undefined) {
      const names = unused.map((column) => column.name)
      const message = `the field was renamed from "${renamedFrom}", but the table has neither column${didYouMean(renamedFrom, names) || '.'}`
      if (!isApproved(approval, message, 'If the field is new, run:', name)) return undefined
    } else if (similar.length > 0) {
      const message = `the column does not exist, and no field uses "${similar.map((column) => column.name).join('", "')}".`
      const advice = 'If the field was renamed, give it renamedFrom. If it is new, run:'
      if (!isApproved(approval, message, advice, name)) return undefined
    }
    if (!required) return field
    const preset = constantDefault(field)
    const fill = `fill:${table}.${name}`
    if (preset !== undefined && !approvals.has(fill) && approvals.valueOf(fill) === undefined)
      return (await canReference(field, preset)) ? field : undefined
    const message = `the column does not exist, and the descriptor requires a value in each of the ${count} rows.`
    const value = await approvedFill(field, message)
    return value === undefined ? undefined : { ...field, default: value }
  }

  const isDropped = async ({ name, isNotNull, default: preset }: CatalogueColumn): Promise<boolean> => {
    const count = await countValues(name)
    const isBlocking = resource.create && isNotNull && preset === null
    const message = isBlocking
      ? 'no field uses the column, but it is NOT NULL, so no row could be created.'
      : `no field uses the column, so its ${count} values are not served.`
    const advice = `${isBlocking ? 'Add the field again, or' : 'To remove the column,'} drop it with its ${count} values:`
    return isApproved(`drop:${table}.${name}`, message, advice, name, isBlocking)
  }

  /** Whether a renamed field takes its former column, in a table that has both. */
  const isReplaced = async (name: string, former: string): Promise<boolean> => {
    const approval = `drop:${table}.${name},rename:${table}.${former}`
    if (approvals.has(approval)) return true
    const [values, formerValues] = [await countValues(name), await countValues(former)]
    const message = `the field was renamed from "${former}", but the table has both columns: "${former}" has ${formerValues} values, and "${name}" has ${values}.`
    const advice = `If "${former}" has the right values, drop the others and rename it: ${applyCommand(approval)}. Otherwise remove renamedFrom.`
    add(message, advice, name, approval)
    return false
  }

  const { kind: idKind } = idField(resource)
  const { length } = kindOf(idKind)
  const storedIds = findColumn(current, 'id')?.kind
  // SQLite stores UUIDs as texts.
  const areTexts = storedIds !== undefined && isText({ kind: storedIds }) && length !== undefined
  const areUuids = areTexts && (await rows.count((query) => query.whereRaw('length(id) <> ?', [length]))) === 0
  if (storedIds !== undefined && storedIds !== idKind && !areUuids) {
    const message = `the ids of its rows are of kind ${storedIds}, but the descriptor says id: '${idKind}'.`
    add(
      message,
      `Ids never change: write id: '${storedIds}', or a table of another name and copy the rows into it.`,
      'id',
    )
  }

  const shapes = new Map<string, ColumnDefinition>(current.columns.map((from) => [from.name, { ...from, from }]))
  const added: Field[] = []
  for (const field of fields.filter(({ name }) => name !== 'id')) {
    const { name, renamedFrom } = field
    const former = renamedFrom === undefined ? undefined : findColumn(current, renamedFrom)
    const sameNamed = findColumn(current, name)
    if (sameNamed && former) {
      if (!(await isReplaced(name, former.name))) continue
      shapes.delete(name)
    } else if (former) {
      const message = `the field was renamed from "${former.name}".`
      isApproved(`rename:${table}.${former.name}`, message, 'To rename the column, run:', name)
    }
    const column = former ?? sameNamed
    if (column) shapes.set(column.name, await compareColumn(field, column))
    else {
      const addable = await compareMissing(field)
      if (addable) added.push(addable)
    }
  }
  for (const column of unused.filter(({ name }) => shapes.get(name)?.name === name))
    if (await isDropped(column)) shapes.delete(column.name)
  const shape = [...shapes.values()]

  /** The column that has the values of a field now; null if every row will have the same value, undefined if none will have one. */
  const presentColumn = (name: string): string | null | undefined => {
    const column =
      shape.find((one) => one.name === name)?.from ?? findColumn(current, findField(resource, name).renamedFrom ?? name)
    if (column !== undefined) return column.name
    const gained = added.find((one) => one.name === name)
    return gained?.required && constantDefault(gained) !== undefined ? null : undefined
  }
  const { isCurrent } = await database.existingObjects(resource)
  for (const index of resourceIndexes(database, resource).filter(({ unique }) => unique)) {
    const { unique = [] } = index
    const columns = unique.map(presentColumn)
    // Null is not equal to null.
    if (isCurrent(index) || columns.includes(undefined)) continue
    const shared = await rows.duplicates(columns.filter((column) => column != null))
    const message = `the descriptor says that (${unique.join(', ')}) is unique, but ${shared}.`
    if (shared) add(message, `Change the rows, or remove unique from the field.`)
  }
  return { shape, added, replacements, unused: unused.filter(({ name }) => shapes.has(name)) }
}
