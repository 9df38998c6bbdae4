/** The query that finds why a row cannot be stored, missing references and taken unique values, and where the values of rows come from. */
import { type Field, idField, type Registry } from '../descriptor/registry.js'
import type { Dialect, Source } from './dialect.js'
import { findField, quoted, resourceAt } from './schema.js'
import { type Fragment, joinSql, parameter, type Sql, sql } from './sql.js'
import type { Conflict } from './writeData.js'

/** The values of rows that are written, as SQL: a row given by parameters, or rows given as the elements of `$rows`. */
export interface RowInput {
  /** The value of a field as the columns of the source have it. */
  given(field: Field): Sql
  /** The same as a text, of which the database need not know the type. */
  text(field: Field): Sql
  /** The value as its column stores it. */
  written(field: Field): Sql
  /** An id of another table. */
  idIn(target: Source, id: Sql): Sql
}

/** The row whose values are the parameters with the names of its fields. */
export const rowOfParameters = (typeOf: Dialect['typeOf'], { writtenAs }: Source): RowInput => ({
  given: (field) => parameter(field.name, typeOf(field)),
  text: ({ name }) => parameter(name, 'text'),
  written({ name }) {
    const [before, after] = writtenAs?.(name) ?? ['', '']
    return sql`${before}${parameter(name)}${after}`
  },
  idIn: (_, id) => id,
})

/** The rows `_e` of `$rows`: after its place, a row has the values of some fields. */
export const rowsOfElements = (
  { columnOf, element }: Dialect,
  { idOf, typeOf, writtenAs }: Source,
  names: readonly string[],
): RowInput => {
  const cell = ({ name }: Field, type?: string) => element(names.indexOf(name) + 1, type)
  const given = (field: Field): Sql =>
    field.name === 'id' && idOf ? idOf(cell(field, 'text')) : sql`${cell(field, columnOf(field).type)}`
  return {
    given,
    text: given,
    written(field) {
      const around = writtenAs?.(field.name)
      if (around) return sql`${around[0]}${cell(field)}${around[1]}`
      const type = typeOf?.(field.name) ?? columnOf(field).type
      // A cast to a text of limited length would cut it, which storing it does not.
      return sql`${cell(field, /^char/i.test(type) ? 'text' : type)}`
    },
    idIn: (target, id) => target.idOf?.(sql`cast(${id} as text)`) ?? id,
  }
}

interface ConflictOptions {
  readonly input: RowInput
  /** The table that a field references. */
  referenced(path: string, field: string): Source
  /** The fields of the row with the id that change; by default all of a new row. */
  readonly changed?: readonly string[]
  /** Whether a new row has an id that the service would assign. */
  readonly isIdGiven?: boolean
  /** What has the ids that exist; by default the table. */
  readonly taken?: Fragment
}

/** The query that returns the conflicts of a write, as JSON objects joined by commas; null is never in conflict. */
export const conflictsQuery = (
  registry: Registry,
  { resource, from, uniqueKey }: Source,
  { input, referenced, changed, isIdGiven = false, taken = from }: ConflictOptions,
): Sql => {
  const { fields } = resource
  const isChanged = (name: string) => changed === undefined || changed.includes(name)
  const exists = (table: Fragment, where: Fragment) => sql`exists (select 1 from ${table} as _source where ${where})`
  const rowId = () => input.given(idField(resource))
  const conflict = (type: Conflict['type'], field: string, isMet: Sql) =>
    sql`case when ${isMet} then '${JSON.stringify({ type, field })}' end`
  /** The value of the row as it would be stored. */
  const storedValue = (field: Field) =>
    isChanged(field.name)
      ? input.given(field)
      : sql`(select ${quoted(field.name)} from ${from} as _source where id = ${rowId()})`
  const conflicts = fields.flatMap((field) => {
    const { name, references, unique, managed } = field
    const checks: Sql[] = []
    if (name === 'id' && (!managed || isIdGiven) && changed === undefined)
      checks.push(conflict('unique', name, exists(taken, sql`id = ${rowId()}`)))
    if (references && isChanged(name)) {
      const target = referenced(resourceAt(registry, references).path, name)
      const isMissing = sql`not ${exists(target.from, sql`id = ${input.idIn(target, input.given(field))}`)}`
      checks.push(conflict('reference', name, sql`${input.text(field)} is not null and ${isMissing}`))
    }
    if (unique && [name, ...unique].some(isChanged)) {
      const isSame = [name, ...unique].map((key) => {
        const keyField = findField(resource, key)
        return sql`${uniqueKey(keyField, quoted(key))} = ${uniqueKey(keyField, storedValue(keyField))}`
      })
      const isOther = changed === undefined ? [] : [sql`not id = ${rowId()}`]
      checks.push(conflict('unique', name, exists(from, joinSql([...isSame, ...isOther], ' and '))))
    }
    return checks
  })
  return sql`select concat_ws(',', ${joinSql(['null', ...conflicts], ', ')}) as conflicts`
}
