/** Idempotency keys on PostgreSQL: stored with their rows, locked while in use, deleted after 24 hours. */
import { keysTable } from '../schema.js'
import { prepared } from './connections.js'

/** The server's clock in milliseconds, the same for every process. */
const now = '(extract(epoch from now()) * 1000)::bigint'
const lifetime = 24 * 60 * 60 * 1000

/** Locks a key until the transaction ends: a second request with the same key waits, and then finds the first one's result. */
export const lockKey = prepared({ sql: 'select pg_advisory_xact_lock(723811690, hashtext($1))', parameters: ['key'] })

/** The result stored for a key. */
export const findKey = prepared({
  sql: `select digest, id, body from ${keysTable} where key = $1 and at > ${now} - ${lifetime}`,
  parameters: ['key'],
})

/**
 * Parts of a statement that stores a row as `made`: they store its key, replacing an expired one, and delete other expired keys
 * unless another process has locked them.
 */
export const storeKey = (json: string): string => `,
  stored_key as (insert into ${keysTable} (key, digest, id, body, at)
    select :retryKey::text, :retryDigest::text, id, ${json}, ${now} from made
    on conflict (key) do update set digest = excluded.digest, id = excluded.id, body = excluded.body, at = excluded.at),
  deleted_keys as (delete from ${keysTable} where key = any(array(select key from ${keysTable}
    where at <= ${now} - ${lifetime} and key <> :retryKey::text for update skip locked)))`
