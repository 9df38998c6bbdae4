/** Keys of creates that may be sent again, on PostgreSQL: kept with the row, held while in use, and forgotten after a day. */
import { prepared } from './connections.js'

/** The answers to creates that carried a key. */
export const keysTable = 'registry_keys'

/** The server's clock, the same for every process, in milliseconds. */
const now = '(extract(epoch from now()) * 1000)::bigint'
const lifetime = 24 * 60 * 60 * 1000

/** Held until the transaction ends: of two requests with one key the second waits, and then finds what the first has made. */
export const holdKey = prepared({ sql: 'select pg_advisory_xact_lock(723811690, hashtext($1))', slots: ['key'] })

/** What a key has made. */
export const findKey = prepared({
  sql: `select digest, id, body from ${keysTable} where key = $1 and at > ${now} - ${lifetime}`,
  slots: ['key'],
})

/**
 * Parts of the statement that has just made a row, given as `made`: they keep its key, in the place of the same key from
 * long ago, and forget what others have left; a key that another process is at is left to that one.
 */
export const keepKey = (json: string): string => `,
  kept as (insert into ${keysTable} (key, digest, id, body, at)
    select :retryKey::text, :retryDigest::text, id, ${json}, ${now} from made
    on conflict (key) do update set digest = excluded.digest, id = excluded.id, body = excluded.body, at = excluded.at),
  forgotten as (delete from ${keysTable} where key = any(array(select key from ${keysTable}
    where at <= ${now} - ${lifetime} and key <> :retryKey::text for update skip locked)))`
