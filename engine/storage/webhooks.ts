/** The tables of webhooks: where each subscriber is, with the delivery that its receiver has not taken yet; and the lease of the process that delivers. */
import type { Cell, Dialect, OwnRunner } from './dialect.js'
import type { OwnTable } from './migration/migrationDialect.js'
import { joinSql, parameter, sql, type Values } from './sql.js'
import type { PendingDelivery, StoredSubscription, Subscription, SubscriptionKey, WebhookStore } from './webhookData.js'

const [subscriptionsTable, leaseTable] = ['registry_subscriptions', 'registry_lease']

/** The columns that change, in the order in which they are read. */
// biome-ignore format: one list
const state = [
  'position', 'entry', 'ended', 'attempts', 'next_attempt', 'delivery', 'body', 'next_position', 'reader', 'since',
]

/** The tables, given the type of their integers. */
export const webhookTables = (integer: string): Readonly<Record<string, OwnTable>> => ({
  [subscriptionsTable]: {
    create: [
      `create table ${subscriptionsTable} (subscriber text not null, resource text not null, position text not null, entry text not null,
        ended ${integer} not null, attempts ${integer} not null, next_attempt ${integer} not null, delivery text, body text,
        next_position text, reader text, since ${integer}, erasures ${integer} not null, primary key (subscriber, resource))`,
    ],
    columns: ['subscriber', 'resource', 'erasures', ...state],
  },
  [leaseTable]: {
    create: [
      `create table ${leaseTable} (id ${integer} primary key, token text not null, beat ${integer} not null)`,
      `insert into ${leaseTable} (id, token, beat) values (1, '', 0)`,
    ],
    columns: ['id', 'token', 'beat'],
  },
})

/**
 * Drops the pending deliveries of the resource `$resource`, which may have a row of which nothing is to be left. They are made again from
 * the same place; one that is being made now is not stored, because the row that it has read may be that one.
 */
export const eraseDeliveries = sql`update ${subscriptionsTable} set delivery = null, body = null, next_position = null, reader = null,
  since = null, erasures = erasures + 1 where resource = ${parameter('$resource')}`

const keyValues = ({ subscriber, resource }: SubscriptionKey): Values => ({
  $subscriber: subscriber,
  $resource: resource,
})

const stateValues = ({ position, entry, isEnded, attempts, nextAttempt, delivery }: Subscription): Values => {
  const { id = null, body = null, next = null, reader = null, since = null } = delivery ?? {}
  const values = [position, entry, Number(isEnded), attempts, nextAttempt, id, body, next, reader, since]
  return Object.fromEntries(state.map((name, n) => [`$${name}`, values[n]]))
}

const readDelivery = ([id, body, next, reader, since]: readonly Cell[]): PendingDelivery | undefined =>
  id === null || id === undefined
    ? undefined
    : { id: String(id), body: String(body), next: String(next), reader: String(reader), since: Number(since) }

const readSubscription = (cells: readonly Cell[]): StoredSubscription => {
  const [erasures, position, entry, ended, attempts, nextAttempt, ...delivery] = cells
  return {
    position: String(position),
    entry: String(entry),
    isEnded: Number(ended) === 1,
    attempts: Number(attempts),
    nextAttempt: Number(nextAttempt),
    delivery: readDelivery(delivery),
    erasures: Number(erasures),
  }
}

export const webhookStore = (dialect: Dialect, own: OwnRunner): WebhookStore => {
  const { forShare = '', forUpdate } = dialect
  const isOfKey = sql`subscriber = ${parameter('$subscriber')} and resource = ${parameter('$resource')}`
  const findSql = sql`select erasures, ${state.join(', ')} from ${subscriptionsTable} where ${isOfKey}`
  const find = dialect.compile(findSql)
  const findLocked = dialect.compile(sql`${findSql}${forUpdate}`)
  const add = dialect.compile(sql`insert into ${subscriptionsTable}
    (subscriber, resource, position, entry, ended, attempts, next_attempt, erasures)
    values (${parameter('$subscriber')}, ${parameter('$resource')}, ${parameter('$position')}, '', 0, 0, 0, 0)
    on conflict (subscriber, resource) do nothing`)
  const settings = state.map((name) => sql`${name} = ${parameter(`$${name}`)}`)
  const change = dialect.compile(sql`update ${subscriptionsTable} set ${joinSql(settings, ', ')} where ${isOfKey}`)
  const endAll = dialect.compile(sql`update ${subscriptionsTable} set ended = 1, entry = ${parameter('$entry')}
    where subscriber = ${parameter('$subscriber')}`)
  const findLease = (locking: string) => dialect.compile(`select token, beat from ${leaseTable}${locking}`)
  const [readLease, holdLease, lockLease] = [findLease(''), findLease(forShare), findLease(forUpdate)]
  const setLease = dialect.compile(
    sql`update ${leaseTable} set token = ${parameter('$token')}, beat = ${parameter('$beat')}`,
  )
  /** Runs work in a transaction in which nobody else can take the lease. */
  const holding = (token: string, work: (run: OwnRunner['read']) => Promise<boolean>): Promise<boolean> =>
    own.transaction(async (run) => {
      const [lease] = await run(holdLease, {})
      return lease?.[0] === token && work(run)
    })
  return {
    async subscribe(key, position) {
      await own.transaction((run) => run(add, { ...keyValues(key), $position: position }))
    },
    async read(key) {
      const [cells] = await own.read(find, keyValues(key))
      return cells && readSubscription(cells)
    },
    store: (token, key, before, after) =>
      holding(token, async (run) => {
        const [cells] = await run(findLocked, keyValues(key))
        const now = cells && readSubscription(cells)
        const isSame = now && (['erasures', 'position', 'isEnded'] as const).every((name) => now[name] === before[name])
        if (!isSame || now.delivery?.id !== before.delivery?.id) return false
        await run(change, { ...keyValues(key), ...stateValues(after) })
        return true
      }),
    end: (token, subscriber, entry) =>
      holding(token, async (run) => {
        await run(endAll, { $subscriber: subscriber, $entry: entry })
        return true
      }),
    async lease() {
      const [cells] = await own.read(readLease, {})
      return cells && { token: String(cells[0]), beat: Number(cells[1]) }
    },
    changeLease: (before, after) =>
      own.transaction(async (run) => {
        const [[token, beat] = []] = await run(lockLease, {})
        if (token !== before.token || Number(beat) !== before.beat) return false
        await run(setLease, { $token: after.token, $beat: after.beat })
        return true
      }),
  }
}
