/** The trigram index of searches: whether pg_trgm is available or can be created, and which letters it supports. */
import type { Execute } from '../migration/migrationDialect.js'

/** Whether there is a trigram index, and whether it supports only ASCII letters. */
export interface SearchIndex {
  readonly isAvailable: boolean
  readonly isAscii: boolean
}

/** The operator class, if this role may use it or an index already does: an index is read without rights on the schema. */
export const operatorClass = async (execute: Execute): Promise<string | undefined> => {
  const [opclass] = await execute<{ name: string }>(
    `select quote_ident(nspname) || '.gin_trgm_ops' as name
      from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace
      where opcname = 'gin_trgm_ops' and (has_schema_privilege(opcnamespace, 'usage')
        or exists (select 1 from pg_index where pg_opclass.oid = any(indclass)))`,
  )
  return opclass?.name
}

const scans = 'Searches scan whole tables because pg_trgm is not available'

/** The operator class of the trigram index, if the extension is installed or can be. */
export const findOrCreateTrigrams = async (
  execute: Execute,
  warn: (message: string) => void,
): Promise<string | undefined> => {
  const installed = await operatorClass(execute)
  if (installed) return installed
  const [extension] = await execute<{ schema: string }>(
    `select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`,
  )
  if (extension) {
    warn(
      `${scans}: this role may not use the schema "${extension.schema}" that it is in. Grant USAGE on it and restart.`,
    )
    return undefined
  }
  try {
    await execute('create extension if not exists pg_trgm')
  } catch (error) {
    warn(`${scans}: ${(error as Error).message}. Create the extension in this database and restart.`)
  }
  return operatorClass(execute)
}

export const probeSearchIndex = async (execute: Execute, trigrams: string | undefined): Promise<SearchIndex> => {
  if (!trigrams) return { isAvailable: false, isAscii: true }
  const schema = trigrams.slice(0, trigrams.lastIndexOf('.'))
  // A role that may not use the schema searches only ASCII letters by the index.
  const trigramCounts = await execute<{ count: number }>(
    `select cardinality(${schema}.show_trgm('éüß')) as count`,
  ).catch(() => [])
  return { isAvailable: true, isAscii: (trigramCounts[0]?.count ?? 0) === 0 }
}
