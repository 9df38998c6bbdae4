/** Adds the table and the column to errors of the server, most of which name neither. For the log. */
import { DatabaseError } from 'pg'
import { knex, named, type Prepared, prepared } from './prepared.js'
import type { Row } from './run.js'

const columnsQuery = prepared(
  knex
    .select('attname', knex.raw('format_type(atttypid, atttypmod)'))
    .from('pg_attribute')
    .whereRaw('attrelid = to_regclass(quote_ident(?)) and attnum > 0 and not attisdropped', [named('table', 'text')]),
)

const reword = (error: DatabaseError, message: string): void => {
  error.stack = error.stack?.replace(error.message, message) ?? message
  error.message = message
}

/** Adds the table to an error that does not name it. */
export const nameTable = (error: unknown, table: string): void => {
  if (error instanceof DatabaseError && table && !error.message.includes(table)) {
    reword(error, `${table}: ${error.message}`)
  }
}

/** Adds the columns that may have caused an error about a value: those of the type in its message. */
export const nameColumns = async (
  error: unknown,
  table: string,
  read: (statement: Prepared, values: { table: string }) => Promise<Row[]>,
): Promise<void> => {
  // A value that is too long, or a number out of range: another program has made the column narrower.
  if (!(error instanceof DatabaseError) || !/^(?:22001|22003)$/.test(error.code ?? '')) return
  const columns = await read(columnsQuery, { table }).catch(() => [])
  const isOfType = ([, type]: Row): boolean =>
    error.message.includes(`type ${type}`) ||
    error.message.includes(`${type} out of range`) ||
    (String(type).startsWith('numeric') && error.message.includes('numeric'))
  const names = columns.filter(isOfType).map(([name]) => name)
  if (names.length > 0) reword(error, error.message.replace(table, `${table}, column ${names.join(' or ')}`))
}
