/** Finds the rows whose values do not fit their field: they break a rule, or are served as null although a value is required. No start is refused because of them. */

import { kindOf, servedValue } from '../../descriptor/kinds/index.js'
import type { Field, Registry, Resource, Value } from '../../descriptor/registry.js'
import { brokenRules } from '../../descriptor/rowRules.js'
import { ruleNames, violationFinder } from '../../descriptor/valueRules.js'
import { literal, quoted } from '../schema.js'
import { columnSql } from '../unmanaged.js'
import { type CatalogueTable, findColumn } from './catalogue.js'
import { applyCommand, type Difference } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { describeRows, maxExamples } from './rows.js'

const batch = 10_000

/** The rows of a table in order of id: the id and what else is selected. */
async function* eachRow(database: MigrationDialect, table: string, selected: readonly string[]) {
  for (let after = ''; ; ) {
    const rows = await database.execute<Record<string, unknown>>(
      `select id, ${selected.join(', ')} from ${quoted(table)}${after && ` where id > ${after}`} order by id limit ${batch}`,
    )
    yield* rows
    if (rows.length < batch) return
    after = literal(String(rows.at(-1)?.['id']))
  }
}

/** The rows of a table that break a rule of a field, with what the first of them is refused for. */
const breaking = async (database: MigrationDialect, table: string, field: Field) => {
  const column = database.columnOf(field)
  const findViolations = violationFinder(field)
  // What the kind reads is the column's own value, not its JSON: as a text, because it may be an integer beyond 2^53.
  const asText = column.storedText ?? ((name: string) => `cast(${name} as text)`)
  const value = servedValue(column.read ? { ...column, json: asText } : column, quoted(field.name))
  const ids: string[] = []
  const values = new Set<string>()
  let [count, reason] = [0, '']
  for await (const { id, value: stored } of eachRow(database, table, [`${value} as value`])) {
    const served = (stored ?? null) === null ? null : (column.read?.(stored as never) ?? stored)
    const [violation] = served === null ? [] : findViolations(served as never)
    if (!violation) continue
    if (ids.length < maxExamples) ids.push(String(id))
    reason ||= violation.describe(field)
    if (values.size < maxExamples) values.add(String(served))
    count++
  }
  return { count, ids, reason, values: [...values] }
}

/** The rows in which responses show null for a required field, because its column has a value of another kind. */
const servedAsNull = async (database: MigrationDialect, resource: Resource, current: CatalogueTable, field: Field) => {
  const column = findColumn(current, field.column)
  if (!column || (!resource.existing && column.kind !== field.kind)) return []
  const read = resource.existing ? columnSql(database.columnOf(field), field, column.type).read : quoted(field.name)
  const value = servedValue(database.columnOf(field), read)
  const id = quoted(resource.fields[0]?.column ?? 'id')
  // A null in a table is reported with its column, which does not require a value.
  const isStored = current.relationKind === undefined ? ` and ${quoted(field.column)} is not null` : ''
  return database.execute<{ id: string; count: number | string }>(
    `select cast(${id} as text) as id, count(*) over () as count from ${quoted(resource.table)} where ${value} is null${isStored} order by ${id} limit ${maxExamples}`,
  )
}

const compareRequired = async (database: MigrationDialect, registry: Registry): Promise<Difference[]> => {
  const differences: Difference[] = []
  for (const resource of registry) {
    const current = await database.catalogue(resource.table)
    if (!current?.hasRows || (!resource.existing && !current.isOwn)) continue
    const required = resource.fields.filter((field) => field.required && !field.redacted && field.name !== 'id')
    for (const field of required) {
      const rows = await servedAsNull(database, resource, current, field)
      if (rows.length === 0) continue
      const rowWords = describeRows({ count: Number(rows[0]?.count), ids: rows.map(({ id }) => id) })
      const message = `the field is required, but ${rowWords} no value of ${field.kind}(), so responses show null.`
      const advice = 'Correct the rows, change the kind of the field, or do not require it.'
      differences.push({
        table: resource.table,
        column: field.column,
        message,
        advice,
        isBlocking: false,
        isError: true,
      })
    }
  }
  return differences
}

/** The rules that stored rows break. */
const compareRules = async (database: MigrationDialect, registry: Registry): Promise<Difference[]> => {
  const differences: Difference[] = []
  for (const { table, fields } of registry) {
    const current = await database.catalogue(table)
    const ruled = fields.filter(({ name, kind, ...rules }) => {
      const isCompared = current?.isOwn && findColumn(current, name)?.kind === kind
      return isCompared && ruleNames.some((rule) => rules[rule] !== undefined)
    })
    for (const field of ruled) {
      const { reason, values, ...rows } = await breaking(database, table, field)
      const message = `${describeRows(rows)} a value that breaks a rule of the field: it ${reason}.`
      const set = values.map((value) => `set:${table}.${field.name}:${value}=VALUE`).join()
      const replace = field.oneOf && !field.redacted ? ` To replace values, run: ${applyCommand(set)}` : ''
      const advice = `These rows are served as they are; correct them, or change the rule.${replace}`
      if (rows.count > 0) differences.push({ table, column: field.name, message, advice, isBlocking: false })
    }
  }
  return differences
}

/** A value as a response shows it, from what the driver of either database returned for it. */
const shownValue = ({ kind }: Field, stored: unknown): Value =>
  stored === null ? null : (kindOf(kind).served ?? String)(stored)

/** The rules between fields that stored rows break. */
const compareRowRules = async (database: MigrationDialect, registry: Registry): Promise<Difference[]> => {
  const differences: Difference[] = []
  for (const resource of registry.filter(({ rules }) => rules)) {
    const { table, rules = [] } = resource
    const current = await database.catalogue(table)
    const fields = resource.fields.filter(({ name }) => rules.some((rule) => rule.fields.includes(name)))
    if (!current?.isOwn || fields.some(({ name, kind }) => findColumn(current, name)?.kind !== kind)) continue
    const broken = new Map<string, { count: number; ids: string[] }>()
    const selected = fields.map((field) => {
      const name = quoted(field.name)
      return `${servedValue(database.columnOf(field), name)} as ${name}`
    })
    for await (const row of eachRow(database, table, selected)) {
      const values = fields.map((field) => [field.name, shownValue(field, row[field.name] ?? null)])
      for (const { message } of brokenRules(resource, Object.fromEntries(values), () => true)) {
        const examples = broken.get(message) ?? { count: 0, ids: [] }
        examples.count++
        if (examples.ids.length < maxExamples) examples.ids.push(String(row['id']))
        broken.set(message, examples)
      }
    }
    for (const [message, rows] of broken)
      differences.push({
        table,
        message: `${describeRows(rows)} values that break a rule: ${message}.`,
        advice: 'These rows are served as they are; correct them, or change the rule.',
        isBlocking: false,
      })
  }
  return differences
}

/** The values that do not fit their fields; reads every value of a field that is required or has rules. */
export const compareValues = async (database: MigrationDialect, registry: Registry): Promise<Difference[]> => [
  ...(await compareRequired(database, registry)),
  ...(await compareRules(database, registry)),
  ...(await compareRowRules(database, registry)),
]
