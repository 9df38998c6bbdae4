/**
 * The changes of a resource for somebody who follows them. Entries of the log say which rows have changed; the rows are read as they are
 * now, and as the reader may see them. A row that it does not see now is told as removed if it saw it at some time since its position.
 */
import type { Rows } from '../descriptor/access.js'
import { isWhole } from '../descriptor/kinds/index.js'
import { type Field, idField, managedResources, type Resource, type RowId } from '../descriptor/registry.js'
import { rulePath } from '../descriptor/rulePaths.js'
import { buildOnce } from '../process/buildOnce.js'
import type { Cell } from './dialect.js'
import { type Entry, entryColumns, hasLog, keptDays, logTable, type Place, parseEntry } from './log.js'
import { type LogPosition, type Mark, parsePosition, positionText, Resync } from './position.js'
import { quoted, resourceAt } from './schema.js'
import { boundIds, type LogAccess, seenReader } from './seen.js'
import { upTo } from './snapshots.js'
import { joinSql, parameter, type Statement, sql } from './sql.js'
import type { Change, ChangesPage, ChangesQuery, Storage } from './storage.js'

/** How many entries are read at once, more after some of which nothing is told, and at most for a page. */
const [chunk, quietChunk, maxEntries] = [100, 1_000, 10_000]

/** A page with more bytes of rows gets no further one. */
const maxBytes = 8 * 1024 * 1024

/** How many rows a change of a row that they reference may move. */
const maxMoved = 1_000

/** How many entries are deleted at once. */
const pruned = 1_000

const [dayMs, hourMs] = [86_400_000, 3_600_000]

/** The id in the JSON of a row, which begins with it. */
const idOf = (row: Buffer): RowId => {
  const [, number, text = '""'] = /^\{"id":\s*(?:(-?\d+)|("(?:[^"\\]|\\.)*"))/.exec(String(row)) ?? []
  return number ?? (JSON.parse(text) as string)
}

const names = (read: Rows): string[] => (read === 'all' ? [] : read.flatMap((rule) => Object.keys(rule)))

/** A row that may have been changed by what an entry tells. */
interface Candidate {
  readonly entry: Entry
  readonly id: RowId
}

/** A reader of the changes of one resource. */
interface Follower extends Pick<ChangesQuery, 'rights' | 'limit'> {
  readonly resource: Resource
  /** The resource, and those on whose rows it depends what the reader may see. */
  readonly followed: readonly Resource[]
}

export const createChanges = (
  access: LogAccess & Pick<Storage, 'table'> & { readonly changesDays?: number | undefined },
): Pick<Storage, 'changes' | 'pruneLog'> => {
  const { registry, dialect, own, log, table, changesDays = 30 } = access
  const { compile } = dialect
  const once = buildOnce<Statement>()
  const seenOf = seenReader(access)
  const newestFirst = log.order.map((column) => `${column} desc`).join(', ')

  const stateStatement = (tables: number): Statement =>
    once(`state ${tables}`, () => {
      const each = Array.from({ length: tables }, (_, n) => [
        sql`(select cast(seq as text) || ' ' || mark || ' ' || ${log.transaction} from ${logTable} where name = ${parameter(`name${n}`, 'text')} order by ${newestFirst} limit 1)`,
        sql`(select at from ${logTable} where seq = ${parameter(`seq${n}`, 'bigint')} and mark = ${parameter(`mark${n}`, 'text')})`,
      ])
      return compile(sql`select ${log.now}, ${log.origin}, ${joinSql(each.flat(), ', ')}`)
    })
  const entriesStatement = (tables: number): Statement =>
    once(`entries ${tables}`, () => compile(log.entries(tables, entryColumns(log))))
  const entriesAfter = compile(
    sql`select ${entryColumns(log)} from ${logTable} as _l where name = ${parameter('$name', 'text')} and ${log.isAfter} limit ${String(maxEntries + 1)}`,
  )
  const referencing = (resource: Resource, field: Field): Statement =>
    once(`${resource.path} ${field.name}`, () => {
      const ids = dialect.isIn(parameter('$ids', dialect.typeOf(field, true)))
      return compile(
        sql`select cast(id as text) from ${quoted(resource.table)} where ${quoted(field.column)} ${ids} limit ${String(maxMoved + 1)}`,
      )
    })

  /** The position of now, and whether an earlier one is still one of this database. */
  const readState = async (followed: readonly Resource[], earlier: LogPosition | undefined) => {
    const values = followed.flatMap(({ table: name }, n) => {
      const [seq, mark] = earlier?.marks[n] ?? ['0', '']
      return [
        [`name${n}`, name],
        [`seq${n}`, seq],
        [`mark${n}`, mark],
      ]
    })
    const [row = []] = await own.read(stateStatement(followed.length), Object.fromEntries(values))
    const [now, origin, ...cells] = row as readonly Cell[]
    const newest = followed.map((_, n) => String(cells[2 * n] ?? '').split(' '))
    const marks = newest.map(([seq = '0', mark = '']): Mark => [seq, mark])
    const last = newest.map(([, , transaction = '0']) => BigInt(transaction)).reduce((a, b) => (a > b ? a : b))
    const isKept = followed.every((resource, n) => {
      const at = cells[2 * n + 1] ?? null
      const isNewest = String(earlier?.marks[n]) === String(marks[n])
      return at !== null && (isNewest || Number(at) >= Date.now() - keptDays(resource, changesDays) * dayMs)
    })
    const position: LogPosition = { origin: String(origin ?? ''), marks, from: upTo(String(now), last) }
    return { position, isValid: isKept && earlier?.marks.length === followed.length && origin === earlier?.origin }
  }

  /** The rows that have ceased to reference some rows since a state of the log; read after those that reference them still. */
  const leftSince = async (
    { table: name }: Resource,
    { name: reference }: Field,
    ids: readonly RowId[],
    to: string,
  ) => {
    const entries = await own.read(entriesAfter, { ...log.afterValues(to), $name: name })
    if (entries.length > maxEntries) throw new Resync()
    return entries
      .map(parseEntry)
      .filter(({ before }) => ids.includes(before?.[reference] ?? ''))
      .map(({ id }) => id)
  }
  /** The rows of a resource that reference a row by the beginning of a path, or have done so in a state of the log. */
  const movedBy = async (
    resource: Resource,
    path: readonly Field[],
    { id, to }: { readonly id: RowId; readonly to: string },
  ): Promise<RowId[]> => {
    const steps = path.map((field, n): [Resource, Field] => {
      const at = n === 0 ? resource : resourceAt(registry, String(path[n - 1]?.references))
      return [at, field]
    })
    let ids = [id]
    for (const [at, field] of steps.toReversed()) {
      if (ids.length === 0) break
      const rows = await own.read(referencing(at, field), { $ids: boundIds(dialect, field, ids) })
      if (rows.length > maxMoved) throw new Resync()
      ids = [...rows.map(([found]) => String(found)), ...(await leftSince(at, field, ids, to))]
    }
    return ids
  }

  /** The rows that an entry may tell of, in a fixed order. */
  const rowsOf = async (entry: Entry, { resource, rights }: Follower, to: string): Promise<RowId[]> => {
    const { read, hidden } = rights.of(resource)
    const { before, after, changed, op } = entry
    const hasNewKeys = JSON.stringify(before) !== JSON.stringify(after)
    const found = new Set<RowId>()
    if (entry.table === resource.table) {
      const isShown = ({ name, redacted }: Field) => !redacted && !hidden.includes(name)
      const shown = resource.fields.filter(isShown).map(({ name }) => name)
      const isUnseen = changed !== undefined && !changed.split(',').some((name) => shown.includes(name))
      if (!isUnseen || hasNewKeys) found.add(entry.id)
    }
    if (op !== 'update' || !hasNewKeys) return [...found]
    for (const name of new Set(names(read))) {
      const path = rulePath(resource, name)
      for (const [n, { references }] of path.slice(0, -1).entries()) {
        const next = path[n + 1]?.name as string
        if (resourceAt(registry, String(references)).table !== entry.table) continue
        // They are erased.
        if (!before || !after) throw new Resync()
        if (before[next] === after[next]) continue
        for (const id of await movedBy(resource, path.slice(0, n + 1), { id: entry.id, to })) found.add(id)
      }
    }
    return [...found].toSorted()
  }

  /** What is told of some rows; nothing of those that the reader neither sees nor saw. */
  const tell = async (candidates: readonly Candidate[], { resource, rights }: Follower, from: string) => {
    const ids = [...new Set(candidates.map(({ id }) => id))]
    const given = isWhole(idField(resource)) ? ids.map(BigInt) : ids
    const rows = ids.length > 0 ? await table(resource, [], rights).rowsWith('id', given as never) : []
    const rowsById = new Map(rows.map((row) => [idOf(row), row]))
    const { read } = rights.of(resource)
    const gone = ids.filter((id) => !rowsById.has(id))
    const removed = new Set(read === 'all' ? gone : await seenOf(resource, read, from, gone))
    const told = new Map<Candidate, Change>()
    for (const candidate of candidates) {
      const { id, entry } = candidate
      const row = rowsById.get(id)
      if (row) told.set(candidate, { op: 'put', id, at: entry.at, row })
      else if (removed.has(id)) told.set(candidate, { op: 'remove', id, at: entry.at })
    }
    return told
  }

  const readPage = async (follower: Follower, now: LogPosition, earlier: LogPosition): Promise<ChangesPage> => {
    const { followed, limit } = follower
    const { from, unread } = earlier
    const tables = followed.map((resource) => resource.table)
    const to = unread?.to ?? now.from
    const changes = new Map<RowId, Change>()
    const page = (position: Required<Pick<LogPosition, 'from' | 'unread'>>): ChangesPage => ({
      changes: [...changes.values()],
      // What is no longer kept is known by the entries that were the newest ones in the state that the reader has.
      next: positionText({ ...(unread || position.unread ? earlier : now), ...position }),
      more: position.unread !== undefined,
    })
    let last: Place | undefined = unread?.last
    let lastRow = unread?.lastRow
    let [read, size, bytes] = [0, Math.min(chunk, limit + 1), 0]
    while (read < maxEntries) {
      const values = { ...log.entriesValues(tables, { from, to, last }), $count: size }
      const entries = (await own.read(entriesStatement(tables.length), values)).map(parseEntry)
      if (entries.some(({ op }) => op === 'reset')) throw new Resync()
      const candidates: Candidate[] = []
      for (const [n, entry] of entries.entries())
        for (const id of await rowsOf(entry, follower, to))
          if (n > 0 || lastRow === undefined || id > lastRow) candidates.push({ entry, id })
      const told = await tell(candidates, follower, from)
      for (const entry of entries) {
        for (const candidate of candidates.filter((one) => one.entry === entry)) {
          const change = told.get(candidate)
          if (change) {
            const { id } = change
            const isFull = changes.size === limit || bytes > maxBytes
            if (!changes.has(id) && isFull) return page({ from, unread: { to, last, lastRow } })
            changes.set(id, change)
            bytes += change.row?.length ?? 0
          }
          lastRow = candidate.id
        }
        last = { transaction: String(entry.transaction), seq: String(entry.seq) }
        lastRow = undefined
      }
      if (entries.length < size) return page({ from: to, unread: undefined })
      read += entries.length
      size = told.size === 0 ? quietChunk : chunk
    }
    return page({ from, unread: { to, last, lastRow } })
  }

  const prune = (resource: Resource) => {
    const isOfTable = sql`name = ${parameter('$name', 'text')}`
    const oldest = sql`select seq, at from ${logTable} where ${isOfTable} order by ${log.order.join(', ')} limit ${String(pruned)}`
    const newest = sql`select seq from ${logTable} where ${isOfTable} order by ${newestFirst} limit 1`
    const statement = once('prune', () =>
      compile(sql`delete from ${logTable} where seq in (select seq from (${oldest}) as _l where at < ${parameter('$before', 'bigint')})
        and seq <> (${newest}) returning seq`),
    )
    // Longer than that is said, because a transaction may have begun long before its commit.
    const before = Date.now() - keptDays(resource, changesDays) * dayMs - hourMs
    return own.transaction((run) => run(statement, { $name: resource.table, $before: before }))
  }

  return {
    async changes(resource, { rights, after, limit }) {
      const { read } = rights.of(resource)
      const references = names(read).flatMap((name) => rulePath(resource, name).slice(0, -1))
      const others = references.map((field) => resourceAt(registry, String(field.references)))
      const follower = { resource, rights, limit, followed: [...new Set([resource, ...others])] }
      const earlier = after === undefined ? undefined : parsePosition(after)
      const { position, isValid } = await readState(follower.followed, earlier)
      if (after === undefined) return { changes: [], next: positionText(position), more: false }
      if (!earlier || !isValid) return 'resync'
      try {
        return await readPage(follower, position, earlier)
      } catch (error) {
        if (error instanceof Resync) return 'resync'
        throw error
      }
    },
    async pruneLog() {
      let isMore = false
      // Of those that had a log, too.
      for (const resource of hasLog(registry) ? managedResources(registry) : [])
        if ((await prune(resource)).length >= pruned - 1) isMore = true
      return isMore
    },
  }
}
