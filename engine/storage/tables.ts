/** The tables of a registry: as they are, with expanded references, and as a caller may use them. */
import { allRights, type Rights, type Rows, seesAll } from '../descriptor/access.js'
import type { AccessName } from '../descriptor/define.js'
import { type Field, idField, type Registry, type Resource } from '../descriptor/registry.js'
import { isPath, rulePath } from '../descriptor/rulePaths.js'
import { buildOnce } from '../process/buildOnce.js'
import { changedTables, type TableChecks } from './changedTables.js'
import type { Dialect, RowCondition, Runner, Source } from './dialect.js'
import { type ReadStatements, readStatements } from './list.js'
import { callerPlan } from './log.js'
import type { ResponseCache } from './responseCache.js'
import { rowCondition, ruleValues } from './rules.js'
import { findField, resourceAt } from './schema.js'
import { expanded, restricted, type View, withValues } from './source.js'
import { jsonList, parameter, sql, type Values } from './sql.js'
import type { Table } from './storage.js'
import { resourceTable, type TableParts } from './table.js'
import type { Trace } from './trace.js'
import type { TransactionTables } from './transaction.js'
import { type Restriction, type WriteOptions, type WritePlanner, writePlanner } from './write.js'
import type { BatchOutcome, Import, Write, WriteBatch } from './writeData.js'

/** What a database provides for the tables of a registry. */
interface Database {
  readonly dialect: Dialect
  source(resource: Resource): Source
  /** A row with some fields as JSON, and about how many bytes it has. */
  shown(resource: Resource, fields: readonly Field[]): Pick<Source, 'json' | 'size'>
  runner(resource: Resource): Runner
  writeOptions(resource: Resource): Omit<WriteOptions, 'read'>
  /** Whether a transaction locks the rows of a table that it reads by their ids, because it is not serializable with all writes of it. */
  locksReads?(resource: Resource): boolean
  readonly checks: TableChecks
  readonly cache: ResponseCache
  readonly warn: (message: string) => void
  readonly trace?: Trace | undefined
}

/** What the rights of a caller mean for the statements: what they depend on, and what they bind. */
interface Scope {
  readonly key: string
  readonly values: Values
}

/** What the rights of a caller mean for each kind of write. */
const ofWrites = <T>(of: (use: AccessName) => T): Record<Write['kind'], T> => ({
  insert: of('create'),
  update: of('update'),
  delete: of('delete'),
})
const uses = ['read', 'create', 'update', 'delete'] as const

/** The tables, with statements that are built once; `watch` is that of `changedTables`. */
const createTables = (registry: Registry, database: Database, watch: ReturnType<typeof changedTables>['watch']) => {
  const { dialect } = database
  const sources = new Map(registry.map((resource) => [resource.path, database.source(resource)]))
  const sourceAt = (path: string) => sources.get(path) as Source
  const tables = new Map(
    registry.map((resource) => {
      const source = sourceAt(resource.path)
      const statements = readStatements(dialect, source)
      const unwatched = database.runner(resource)
      const check = () => unwatched.read(statements.row, { id: null })
      const runner = watch(resource, unwatched, check)
      const options = { read: statements.row, ...database.writeOptions(resource) }
      const writes = writePlanner(dialect, registry, source, sourceAt, options)
      const parts: TableParts = { source, runner, statements, writes }
      const table = resourceTable(database, parts)
      const count = async () => Number((await runner.read(statements.count, {}, { isShort: true }))[0]?.[0])
      const view: View = { source, runner: unwatched }
      return [resource, { table, parts, count, runner, view, check, writes }]
    }),
  )
  const tableOf = (resource: Resource) => {
    const entry = tables.get(resource)
    if (entry === undefined) throw new TypeError(`${resource.path} is not of this registry`)
    return entry
  }

  const conditionOf = (resource: Resource, use: AccessName, rows: Rows): RowCondition | undefined =>
    rows === 'all' ? undefined : rowCondition(dialect, sourceAt(resource.path), sourceAt, use, rows)
  /** The references that the rules of a caller follow. */
  const pathsOf = (resource: Resource, rows: Rows): (readonly Field[])[] => {
    const names = rows === 'all' ? [] : rows.flatMap((rule) => Object.keys(rule)).filter(isPath)
    return [...new Set(names)].map((name) => rulePath(resource, name).slice(0, -1))
  }
  /** The other tables that decide which rows a caller may read. */
  const decisive = (resource: Resource, rights: Rights): Resource[] => {
    const references = pathsOf(resource, rights.of(resource).read).flat()
    const paths = new Set(references.map((field) => field.references as string))
    return [...paths].filter((path) => path !== resource.path).map((path) => resourceAt(registry, path))
  }
  const scopes = new WeakMap<Rights, Scope>()
  const scopeOf = (rights: Rights): Scope => {
    const cachedScope = scopes.get(rights)
    if (cachedScope) return cachedScope
    const perResource = registry.map((resource) => {
      const resourceRights = rights.of(resource)
      const source = sourceAt(resource.path)
      return {
        key: [resourceRights.hidden, ...uses.map((use) => conditionOf(resource, use, resourceRights[use])?.sql(true))],
        values: Object.assign(
          {},
          ...uses.map((use) => ruleValues(dialect, source, sourceAt, use, resourceRights[use])),
        ) as Values,
      }
    })
    const scope = {
      key: JSON.stringify(perResource.map(({ key }) => key)),
      values: Object.assign({}, ...perResource.map(({ values }) => values)) as Values,
    }
    scopes.set(rights, scope)
    return scope
  }

  /** A table as a caller sees it. */
  const seenBy =
    (rights: Rights) =>
    (resource: Resource): View => {
      const { view } = tableOf(resource)
      const resourceRights = rights.of(resource)
      const { hidden } = resourceRights
      if (seesAll(resourceRights)) return view
      const fields = resource.fields.map((field) =>
        hidden.includes(field.name) ? { ...field, redacted: true as const } : field,
      )
      return restricted(
        view,
        conditionOf(resource, 'read', resourceRights.read),
        decisive(resource, rights).map((other) => tableOf(other).view),
        hidden.length > 0 ? database.shown(resource, fields) : view.source,
      )
    }

  const onceWriters = buildOnce<WritePlanner>()
  /** What plans the writes of a caller. */
  const writesOf = (resource: Resource, rights: Rights): WritePlanner => {
    if (rights === allRights) return tableOf(resource).writes
    return onceWriters(`${resource.path} ${scopeOf(rights).key}`, () => {
      const resourceRights = rights.of(resource)
      const source = sourceAt(resource.path)
      const byPath = buildOnce<Source>()
      const seenAt = (path: string) => byPath(path, () => seenBy(rights)(resourceAt(registry, path)).source)
      const seenSource = seenAt(resource.path)
      const isBlind = resourceRights.read !== 'all' && resourceRights.read.length === 0
      const restriction: Restriction = {
        seen: seenSource,
        isBlind,
        sources: seenAt,
        shown: (other, field) => {
          const { read, hidden } = rights.of(other)
          if (hidden.includes(field)) return sql`(select * from ${sourceAt(other.path).from} as _t where 1 = 0)`
          return read === 'all' ? undefined : seenAt(other.path).from
        },
        rows: ofWrites((use) => conditionOf(resource, use, resourceRights[use])),
        paths: ofWrites((use) => [
          ...pathsOf(resource, resourceRights.read),
          ...pathsOf(resource, resourceRights[use]),
        ]),
      }
      const { create: _, ...options } = database.writeOptions(resource)
      const id = idField(resource)
      const onlyId = sql`select null, ${dialect.bytes(database.shown(resource, [id]).json)} from ${source.from} as _t
        where id = ${parameter('id', dialect.typeOf(id))}`
      const read = isBlind ? dialect.compile(onlyId) : readStatements(dialect, seenSource).row
      return writePlanner(dialect, registry, source, sourceAt, { read, ...options, restriction })
    })
  }

  const onceRead = buildOnce<ReadStatements>()
  /** What the table for a caller is made of, with expanded references. */
  const partsFor = (resource: Resource, expand: readonly string[], rights: Rights): TableParts => {
    const { key, values } = scopeOf(rights)
    const viewOf = seenBy(rights)
    const expansions = expand.map((name) => {
      const field = findField(resource, name)
      return { field, target: resourceAt(registry, String(field.references)) }
    })
    const targets = expansions.map(({ target }) => target)
    const isPrivate = [resource, ...targets].some((one) => !seesAll(rights.of(one)))
    const writes = writesOf(resource, rights)
    if (!isPrivate && expand.length === 0) return { ...tableOf(resource).parts, writes, scope: values }
    const view = viewOf(resource)
    const { source, runner } =
      expand.length === 0
        ? view
        : expanded(
            dialect,
            view,
            expansions.map(({ field, target }) => ({ field, target: viewOf(target) })),
          )
    const statements = onceRead(`${resource.path} ${expand} ${isPrivate ? key : ''}`, () =>
      readStatements(dialect, source),
    )
    const others = [...targets, ...[resource, ...targets].flatMap((one) => decisive(one, rights))]
    const watched = watch(resource, runner, tableOf(resource).check, others)
    const callerRunner = isPrivate ? withValues(watched, values) : watched
    return { source, runner: callerRunner, statements, writes, scope: values, isPrivate }
  }

  const keepTable = buildOnce<Table>()
  const keepParts = buildOnce<TableParts>()
  const keyOf = (resource: Resource, expand: readonly string[], rights: Rights) => {
    const { key, values } = scopeOf(rights)
    return `${resource.path} ${expand} ${key} ${jsonList(Object.entries(values))}`
  }
  const managed = registry.find(({ existing }) => !existing) ?? (registry[0] as Resource)
  return {
    table(resource: Resource, expand: readonly string[] = [], rights: Rights = allRights): Table {
      if (rights === allRights && expand.length === 0) return tableOf(resource).table
      return keepTable(keyOf(resource, expand, rights), () =>
        resourceTable(database, partsFor(resource, expand, rights)),
      )
    },
    /** The same table whose statements something else runs. */
    tableOn(runner: Runner, resource: Resource, expand: readonly string[], rights: Rights, isLocked: boolean): Table {
      const parts = keepParts(keyOf(resource, expand, rights), () => partsFor(resource, expand, rights))
      const { isPrivate, scope = {} } = parts
      return resourceTable(database, { ...parts, isLocked, runner: isPrivate ? withValues(runner, scope) : runner })
    },
    async batch(
      { writes, check, isUndone = false, idempotencyKey: given, by }: WriteBatch,
      rights: Rights = allRights,
      runnerOf = (resource: Resource): Runner => tableOf(resource).runner,
    ): Promise<BatchOutcome> {
      const first = writes[0]?.resource ?? managed
      const { keys } = tableOf(first).writes
      const writerOf = (resource: Resource) => writesOf(resource, rights)
      const { values: scope } = scopeOf(rights)
      return runnerOf(first).batch({
        kind: 'batch',
        ...callerPlan(registry, dialect.callerIs, by),
        isUndone,
        writes: writes.map(({ resource, write }) => writerOf(resource).plan(write, scope, writes.length > 1)),
        check: check && writerOf(check.resource).conflicts(check.values, check.id, scope, check.sent),
        ...(given && keys && { key: { given, statements: keys } }),
      })
    },
    planImport: (resource: Resource, rows: Import) => tableOf(resource).writes.planImport(rows, {}),
    async counts(resources: readonly Resource[] = registry): Promise<ReadonlyMap<Resource, number>> {
      const counted = resources.map(async (resource) => [resource, await tableOf(resource).count()] as const)
      return new Map(await Promise.all(counted))
    },
    // A registry may be empty.
    keys: tables.get(managed)?.writes.keys,
  }
}

/** A runner of statements that are only built; a transaction has its own. */
const noRunner = {} as Runner

export const resourceTables = (registry: Registry, database: Database) => {
  const changed = changedTables(registry, database.checks, database.warn)
  const { tableOn: _, keys, ...tables } = createTables(registry, database, changed.watch)
  // Without versions and stored totals: a transaction that reads these would conflict with every write.
  const createUnversioned = () => {
    const source = (resource: Resource): Source => {
      const { state: __, ...rest } = database.source(resource)
      return rest
    }
    const runner = () => noRunner
    return createTables(registry, { ...database, source, runner }, (___, given) => given)
  }
  let unversioned: ReturnType<typeof createUnversioned> | undefined
  const forTransactions: TransactionTables = {
    keys,
    caller: (by) => callerPlan(registry, database.dialect.callerIs, by).caller,
    within(runnerOf) {
      unversioned ??= createUnversioned()
      const { tableOn, batch } = unversioned
      const isLocked = (resource: Resource) =>
        database.locksReads?.(resource) === true && Boolean(resource.update || resource.delete)
      return {
        table: (resource, expand = [], rights = allRights) =>
          tableOn(runnerOf(resource), resource, expand, rights, isLocked(resource)),
        batch: (writes, rights) => batch(writes, rights, runnerOf),
      }
    },
  }
  return { ...tables, forTransactions, changed: changed.names }
}
