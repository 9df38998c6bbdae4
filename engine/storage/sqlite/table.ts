/** The table of one resource on SQLite. */
import type { Database } from 'better-sqlite3'
import { kindOf, type ParameterValue } from '../../descriptor/kinds.js'
import { isById, type ListQuery, type Position } from '../../descriptor/listQuery.js'
import type { Resource, RowValues, Value } from '../../descriptor/registry.js'
import { oncePerTick } from '../../process/batchPerTick.js'
import { bind, type Statement } from '../bindings.js'
import { parseConflicts } from '../conflicts.js'
import { excerptLength, type TableDialect, type VersionedBody } from '../dialect.js'
import type { Plan } from '../plan.js'
import { findReferencing, runInTurn } from '../referencing.js'
import { boundValue, findField, quoted, readValue } from '../schema.js'
import { type Outcome, rememberUpdates, type Write } from '../write.js'
import { type Block, pageStart, type TableState } from './blocks.js'
import { bindLists, jsonList, type Prepare, preparer } from './prepared.js'
import type { Reader } from './readers.js'
import { columnOf } from './schema.js'
import { isIndexed } from './search.js'
import type { Statements } from './statements.js'
import type { WriteQueue } from './writeQueue.js'
import { type BoundWrite, refusedBy } from './writes.js'

export const commitCounter = (database: Database) => {
  // SQLite changes this number when another connection has committed.
  const dataVersion = database.prepare('pragma data_version').pluck()
  // One check serves all requests of a tick: each of them arrived before it.
  const isFirstLook = oncePerTick()
  let last: unknown
  let count = 0
  return {
    /** Stays the same until something is committed: what was read before then still holds. */
    count(): number {
      if (!isFirstLook()) return count
      const now = dataVersion.get()
      if (now !== last) count++
      last = now
      return count
    },
    /** To be called after a commit of this process. */
    committed(): void {
      count++
    },
  }
}

export type CommitCounter = ReturnType<typeof commitCounter>

export interface DatabaseContext {
  readonly database: Database
  readonly readerFor: (resource: string) => Reader
  readonly writes: WriteQueue
  readonly commits: CommitCounter
}

/** Bytes from a worker arrive as a plain Uint8Array. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

const stateReader = (prepare: Prepare, { lists }: Statements, commits: CommitCounter) => {
  let seen = -1
  let state: TableState
  const read = (): TableState => {
    state = prepare(lists.state).get() as TableState
    return state
  }
  return {
    read,
    current(): TableState {
      const count = commits.count()
      if (count !== seen) read()
      seen = count
      return state
    },
  }
}

const excerptSql = (resource: Resource, fields: readonly string[]): string => {
  const columns = fields.map((name) => {
    const { kind } = findField(resource, name)
    return kindOf(kind).isText ? `substr(${quoted(name)}, 1, ${excerptLength}) as ${quoted(name)}` : quoted(name)
  })
  return `select ${['id', ...columns].join()} from ${quoted(resource.table)} where id in (select value from json_each(?))`
}

type WriteSql = Pick<Statements, 'get' | 'insert' | 'conflicts' | 'update' | 'delete' | 'referrers'> & {
  readonly keys?: Statements['keys']
}

export const tableWriter = (resource: Resource, statements: WriteSql, writes: WriteQueue) => {
  const update = rememberUpdates(statements.update)
  const columns = new Map(resource.fields.map(({ name, kind }) => [name, columnOf(kind)]))
  const bound = ({ sql, parameters }: Statement, given: Readonly<Record<string, unknown>>) => ({
    sql,
    values: parameters.map((name) => boundValue(columns.get(name) ?? {}, given[name]) ?? null),
  })
  const boundWrite = (write: Write): BoundWrite => {
    const { idempotencyKey: given } = write
    const idempotencyKey = given && statements.keys && { ...given, sql: statements.keys }
    const common = { read: statements.get.sql, idempotencyKey }
    if (write.kind === 'insert') {
      const { conflicts, insert } = statements
      return { ...common, conflicts: bound(conflicts, write.values), change: bound(insert, write.values) }
    }
    const { id, ifMatch } = write
    if (write.kind === 'delete') {
      const referencing = { path: resource.path, referrers: statements.referrers() }
      return { ...common, id, ifMatch, change: bound(statements.delete, { id }), referencing }
    }
    const { conflicts, change } = update(Object.keys(write.values), Object.keys(write.stamps))
    const values = { ...write.values, ...write.stamps, id }
    return { ...common, id, ifMatch, conflicts: bound(conflicts, values), change: bound(change, values) }
  }
  return {
    update,
    bound,
    async write(write: Write): Promise<Outcome> {
      const written = await writes.write(boundWrite(write))
      if ('error' in written) {
        const refused = refusedBy(written.error)
        if (refused) return { refused }
        throw Object.assign(new Error(written.error.message), written.error)
      }
      if ('body' in written) return { ...written, body: asBuffer(written.body) }
      return 'current' in written ? { current: asBuffer(written.current) } : written
    },
  }
}

export const sqliteTable = (resource: Resource, statements: Statements, context: DatabaseContext): TableDialect => {
  const { database, writes, commits } = context
  const reader = context.readerFor(resource.path)
  const prepare = preparer(database)
  const state = stateReader(prepare, statements, commits)
  /** Makes the function that reads the only row of a statement. The statement is prepared on first use, to keep starts short. */
  const rowReader = (statement: Statement) => {
    let prepared: ReturnType<Prepare> | undefined
    return (values: Readonly<Record<string, unknown>>) => {
      prepared ??= database.prepare(statement.sql).raw()
      return prepared.get(bind(statement, values)) as [string, Buffer | null, (number | null)?]
    }
  }
  const readPage = rowReader(statements.all)
  const readRow = rowReader(statements.get)
  const readBlocks = () => prepare(statements.lists.blocks).raw().safeIntegers().all() as Block[]

  /** The page of all rows, which takes some 40 µs at any offset. */
  const pageOfAll = (page: ListQuery['page'], now: TableState): VersionedBody => {
    const { after, limit, offset } = page
    const { first, skip } = after ? { first: after.id + 1n, skip: 0n } : pageStart(now, offset, readBlocks)
    const values = { first, skip, limit: BigInt(limit), shownOffset: String(offset) }
    const [version, body, last = null] = readPage(values)
    // Where another process has written in between, the page may begin elsewhere.
    if (version !== now.version) return pageOfAll(page, state.read())
    const isMore = last !== null && now.last !== null && last < now.last
    return { version, body: body as Buffer, next: isMore ? { id: BigInt(last), value: null } : undefined }
  }
  const bindValue = (name: string, value: ParameterValue): ParameterValue =>
    boundValue(columnOf(findField(resource, name).kind), value) as ParameterValue
  const withBoundValues = ({ where, ...plan }: Plan): Plan => ({
    ...plan,
    where: where.map(({ field, operator, value }) => ({
      field,
      operator,
      value:
        typeof value === 'object' ? jsonList(value.map((item) => bindValue(field, item))) : bindValue(field, value),
    })),
  })
  const boundPosition = ({ order: { field } }: Plan, after: Position | undefined): Position | undefined =>
    after && { id: after.id, value: after.value === null ? null : bindValue(field, after.value) }
  const readPosition = ({ order: { field } }: Plan, next: Position | undefined): Position | undefined =>
    next && { id: next.id, value: readValue(columnOf(findField(resource, field).kind), next.value) }

  const { update, bound, write } = tableWriter(resource, statements, writes)

  return {
    shape: statements.all.sql,
    async version() {
      return state.current().version
    },
    isIndexed,
    async page(plan, page, caller) {
      const now = state.current()
      if (plan.strategy === 'all' && isById(plan.order) && !now.hasLongRows) return pageOfAll(page, now)
      const bound = { ...page, after: boundPosition(plan, page.after) }
      const found = await reader.page(withBoundValues(plan), bound, caller)
      const next = readPosition(plan, found.next)
      return 'bytes' in found ? { version: found.version, body: asBuffer(found.bytes), next } : { ...found, next }
    },
    ids: (plan, after, caller) => reader.ids(withBoundValues(plan), after, caller),
    part: reader.part,
    referencing: (id) =>
      runInTurn(findReferencing(statements.referrers(), resource.path, id), (query) =>
        reader.plain({ sql: query.statement.sql, values: bindLists(query), search: '' }),
      ),
    valueCounts: (plan, ...rest) => reader.valueCounts(withBoundValues(plan), ...rest),
    async excerpts(ids, fields) {
      const rows = prepare(excerptSql(resource, fields)).all(`[${ids.join()}]`) as RowValues[]
      return rows.map((row) => ({
        ...Object.fromEntries(
          fields.map((name) => [name, readValue(columnOf(findField(resource, name).kind), row[name]) as Value]),
        ),
        id: row['id'] as number,
      }))
    },
    async row(id) {
      const [version, body] = readRow({ id })
      return body === null ? undefined : { version, body }
    },
    async hasKey(key) {
      return prepare(statements.keys.find).get(key) !== undefined
    },
    async conflicts(values, id) {
      const { conflicts } = id === undefined ? statements : update(Object.keys(values), [])
      const { sql, values: given } = bound(conflicts, { ...values, id: id ?? null })
      return parseConflicts((prepare(sql).raw().get(given) as [string])[0])
    },
    write,
  }
}
