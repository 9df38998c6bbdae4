/** Finds the rows that break a rule of their field. They stay readable, so this is never a reason to refuse a start. */
import { servedValue } from '../../descriptor/kinds.js'
import type { Field, Registry } from '../../descriptor/registry.js'
import { ruleNames, valueRuling } from '../../descriptor/valueRules.js'
import { quoted } from '../schema.js'
import { findColumn } from './catalogue.js'
import type { Difference } from './difference.js'
import type { MigrationDialect } from './migrationDialect.js'
import { describeRows, maxExamples } from './rows.js'

const batch = 10_000

/** The rows of a table that break a rule of a field, with what the first of them is refused for. */
const breaking = async (database: MigrationDialect, table: string, field: Field) => {
  const column = database.columnOf(field.kind)
  const refuse = valueRuling(field)
  const value = servedValue(column, quoted(field.name))
  const ids: string[] = []
  let [count, reason, after] = [0, '', String(Number.MIN_SAFE_INTEGER)]
  for (let isMore = true; isMore; ) {
    const rows = await database.execute<{ id: number | string; value: never }>(
      `select id, ${value} as value from ${quoted(table)} where id > ${after} order by id limit ${batch}`,
    )
    for (const { id, value: stored } of rows) {
      const [refusal] = stored === null ? [] : refuse((column.read?.(stored) ?? stored) as never)
      if (!refusal) continue
      if (ids.length < maxExamples) ids.push(String(id))
      reason ||= refusal.describe(field)
      count++
    }
    isMore = rows.length === batch
    after = String(rows.at(-1)?.id)
  }
  return { count, ids, reason }
}

/** The rules that stored rows break; reads every value of a field with rules. */
export const compareRules = async (database: MigrationDialect, registry: Registry): Promise<Difference[]> => {
  const differences: Difference[] = []
  for (const { table, fields } of registry) {
    const current = await database.catalogue(table)
    const ruled = fields.filter(({ name, kind, ...rules }) => {
      const isCompared = current?.isOwn && findColumn(current, name)?.kind === kind
      return isCompared && ruleNames.some((rule) => rules[rule] !== undefined)
    })
    for (const field of ruled) {
      const { reason, ...rows } = await breaking(database, table, field)
      const message = `${describeRows(rows)} a value that breaks a rule of the field: it ${reason}.`
      const advice = 'These rows are served as they are; correct them, or change the rule.'
      if (rows.count > 0) differences.push({ table, column: field.name, message, advice, isBlocking: false })
    }
  }
  return differences
}
