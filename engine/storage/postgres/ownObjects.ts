/** Reads the derived objects of a table from PostgreSQL's catalogue. Each has the digest of its SQL as its comment. */
import { createHash } from 'node:crypto'
import type { Resource } from '../../descriptor/registry.js'
import { type ObjectName, quoted } from '../schema.js'

export const digestOf = (...sql: readonly string[]): string => createHash('sha256').update(sql.join('\n')).digest('hex')

export const comment = (on: string, digest: string): string => `comment on ${on} is 'Made by the service: ${digest}'`
export const digestIn = (comment: string | null | undefined): string =>
  /^Made by the service: (\w{64})$/.exec(comment ?? '')?.[1] ?? ''

/**
 * The columns, indexes and triggers of a table, with their comments, and whether they are in use. Triggers must fire whatever
 * the session_replication_role; a restore that disables and enables them again leaves them otherwise.
 */
export const objectsSql = `select 'column' as type, attname as name, col_description(attrelid, attnum) as comment, attgenerated = '' as "isUsed"
    from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
  union all select 'index', relname, obj_description(indexrelid, 'pg_class'), indisvalid
    from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass($1)
  union all select 'trigger', tgname, obj_description(oid, 'pg_trigger'), tgenabled = 'A'
    from pg_trigger where tgrelid = to_regclass($1)`

export interface Commented extends ObjectName {
  readonly comment: string | null
  readonly isUsed: boolean
}

export const drop = ({ table }: Resource, { type, name }: ObjectName): string => {
  if (type === 'column') return `alter table ${quoted(table)} drop column if exists ${name}`
  return `drop ${type} if exists ${name}${type === 'trigger' ? ` on ${quoted(table)}` : ''}`
}

/** An object as COMMENT ON names it. */
export const commented = ({ table }: Resource, { type, name }: ObjectName): string => {
  if (type === 'column') return `column ${quoted(table)}.${name}`
  return `${type} ${name}${type === 'trigger' ? ` on ${quoted(table)}` : ''}`
}
