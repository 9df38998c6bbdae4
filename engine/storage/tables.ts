/** The tables of a registry: as they are, with expanded references, and as a caller may use them. */
import { allRights, type ResourceRights, type Rights, type Rows, seesAll } from '../descriptor/access.js'
import type { AccessName } from '../descriptor/define.js'
import { type Field, idField, type Registry, type Resource } from '../descriptor/registry.js'
import { buildOnce } from '../process/buildOnce.js'
import { compile, jsonList, parameter, sqlTag, type Values } from './bindings.js'
import { changedTables, type TableChecks } from './changedTables.js'
import type { Dialect, RowCondition, Runner, Source } from './dialect.js'
import { expandedRunner, expandedSource } from './expanded.js'
import { importPlanner } from './import.js'
import { readStatements } from './list.js'
import type { ResponseCache } from './responseCache.js'
import { restrictedRunner, restrictedSource, rowCondition, ruleValues } from './restricted.js'
import { findField, resourceAt } from './schema.js'
import type { Table } from './storage.js'
import { resourceTable } from './table.js'
import type { Trace } from './trace.js'
import { type Restriction, type WriteOptions, writePlanner } from './write.js'
import type { BatchOutcome, Import, Write, WriteBatch } from './writeData.js'

/** What a database provides for the tables of a registry. */
interface Database {
  readonly dialect: Dialect
  source(resource: Resource): Source
  /** A row with some fields as JSON, and about how many bytes it has. */
  shown(resource: Resource, fields: readonly Field[]): Pick<Source, 'json' | 'size'>
  runner(resource: Resource): Runner
  writeOptions(resource: Resource): Omit<WriteOptions, 'read'>
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

const writeKinds: Readonly<Record<Exclude<AccessName, 'read'>, Write['kind']>> = {
  create: 'insert',
  update: 'update',
  delete: 'delete',
}
const uses = ['read', 'create', 'update', 'delete'] as const

export const resourceTables = (registry: Registry, database: Database) => {
  const { dialect } = database
  const changed = changedTables(registry, database.checks, database.warn)
  const sources = new Map(registry.map((resource) => [resource.path, database.source(resource)]))
  const sourceAt = (path: string) => sources.get(path) as Source
  const tables = new Map(
    registry.map((resource) => {
      const source = sourceAt(resource.path)
      const statements = readStatements(dialect, source)
      const unwatched = database.runner(resource)
      const check = () => unwatched.read(statements.row, { id: null })
      const runner = changed.watch(resource, unwatched, check)
      const writes = writePlanner(dialect, registry, source, sourceAt, {
        read: statements.row,
        ...database.writeOptions(resource),
      })
      const planImport = importPlanner(dialect, registry, source, sourceAt, writes.keys)
      const table = resourceTable(dialect, source, statements, runner, writes, planImport, database)
      const count = async () => Number((await runner.read(statements.count, {}, { isShort: true }))[0]?.[0])
      return [resource, { table, count, statements, runner, unwatched, check, writes, planImport }]
    }),
  )
  const tableOf = (resource: Resource) => {
    const entry = tables.get(resource)
    if (entry === undefined) throw new TypeError(`${resource.path} is not of this registry`)
    return entry
  }

  const conditionOf = (resource: Resource, use: AccessName, rows: Rows): RowCondition | undefined =>
    rows === 'all' ? undefined : rowCondition(dialect, sourceAt(resource.path), use, rows)
  const scopes = new WeakMap<Rights, Scope>()
  const scopeOf = (rights: Rights): Scope => {
    const known = scopes.get(rights)
    if (known) return known
    const perResource = registry.map((resource) => {
      const resourceRights = rights.of(resource)
      const source = sourceAt(resource.path)
      return {
        key: [resourceRights.hidden, ...uses.map((use) => conditionOf(resource, use, resourceRights[use])?.sql(true))],
        values: Object.assign(
          {},
          ...uses.map((use) => ruleValues(dialect, source, use, resourceRights[use])),
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

  /** What a caller sees of a table. */
  const seenSource = (resource: Resource, resourceRights: ResourceRights): Source => {
    const source = sourceAt(resource.path)
    if (seesAll(resourceRights)) return source
    const fields = resource.fields.map((field) =>
      resourceRights.hidden.includes(field.name) ? { ...field, redacted: true as const } : field,
    )
    return restrictedSource(
      dialect,
      source,
      resourceRights,
      resourceRights.hidden.length > 0 ? database.shown(resource, fields) : source,
    )
  }
  const targetOf = (resource: Resource, reference: string): Resource =>
    resourceAt(registry, String(findField(resource, reference).references))
  const expandedFrom = (resource: Resource, expand: readonly string[], seen: (resource: Resource) => Source) => {
    const expansions = expand.map((name) => ({
      field: findField(resource, name),
      target: seen(targetOf(resource, name)),
    }))
    const tableSource = seen(resource)
    return expand.length === 0
      ? { source: tableSource, expansions }
      : { source: expandedSource(dialect, tableSource, expansions), expansions }
  }
  const runnerOf = (
    resource: Resource,
    expand: readonly string[],
    expansions: ReturnType<typeof expandedFrom>['expansions'],
  ): Runner => {
    const { runner, unwatched, check } = tableOf(resource)
    if (expand.length === 0) return runner
    const targets = expand.map((name) => targetOf(resource, name))
    const others = targets.map((target) => tableOf(target).unwatched)
    const expanded = expandedRunner(unwatched, others, sourceAt(resource.path), expansions)
    return changed.watch(resource, expanded, check, targets)
  }

  const onceWriters = buildOnce<Pick<ReturnType<typeof tableOf>, 'writes' | 'planImport'>>()
  /** What plans the writes of a caller. */
  const writersOf = (resource: Resource, rights: Rights) => {
    if (rights === allRights) return tableOf(resource)
    return onceWriters(`${resource.path} ${scopeOf(rights).key}`, () => {
      const resourceRights = rights.of(resource)
      const source = sourceAt(resource.path)
      const seen = seenSource(resource, resourceRights)
      const isBlind = resourceRights.read !== 'all' && resourceRights.read.length === 0
      const byPath = buildOnce<Source>()
      const seenAt = (path: string) =>
        byPath(path, () => {
          const other = resourceAt(registry, path)
          return seenSource(other, rights.of(other))
        })
      const restriction: Restriction = {
        seen,
        isBlind,
        sources: seenAt,
        shown: (other, field) => {
          const { read, hidden } = rights.of(other)
          if (hidden.includes(field)) return `(select * from ${sourceAt(other.path).from} as _t where 1 = 0)`
          return read === 'all' ? undefined : seenAt(other.path).from
        },
        rows: Object.fromEntries(
          Object.entries(writeKinds).map(([use, kind]) => [
            kind,
            conditionOf(resource, use as AccessName, resourceRights[use as AccessName]),
          ]),
        ),
      }
      const { create: _, ...options } = database.writeOptions(resource)
      const id = idField(resource)
      const onlyId = compile(
        sqlTag(
          dialect.knex,
        )`select null, ${dialect.bytes(database.shown(resource, [id]).json)} from ${source.from} as _t
          where id = ${parameter(dialect.knex, 'id', dialect.typeOf(id))}`,
      )
      const read = isBlind ? onlyId : readStatements(dialect, seen).row
      const writes = writePlanner(dialect, registry, source, sourceAt, { read, ...options, restriction })
      const planImport = importPlanner(dialect, registry, source, sourceAt, writes.keys, restriction)
      return { writes, planImport }
    })
  }

  const onceRead = buildOnce<
    ReturnType<typeof expandedFrom> & { statements: ReturnType<typeof readStatements>; runner: Runner }
  >()
  /** The table for a caller, with expanded references. */
  const tableFor = (resource: Resource, expand: readonly string[], rights: Rights): Table => {
    const { key, values } = scopeOf(rights)
    const seen = (one: Resource) => seenSource(one, rights.of(one))
    const isPrivate = [resource, ...expand.map((name) => targetOf(resource, name))].some(
      (one) => !seesAll(rights.of(one)),
    )
    const { source, statements, runner } = onceRead(`${resource.path} ${expand} ${isPrivate ? key : ''}`, () => {
      const { source, expansions } = expandedFrom(resource, expand, seen)
      const statements = isPrivate || expand.length > 0 ? readStatements(dialect, source) : tableOf(resource).statements
      return { source, expansions, statements, runner: runnerOf(resource, expand, expansions) }
    })
    const { writes, planImport } = writersOf(resource, rights)
    const callerRunner = isPrivate ? restrictedRunner(runner, values) : runner
    return resourceTable(dialect, source, statements, callerRunner, writes, planImport, database, values, isPrivate)
  }

  const keep = buildOnce<Table>()
  const managed = registry.find(({ existing }) => !existing) ?? (registry[0] as Resource)
  return {
    table(resource: Resource, expand: readonly string[] = [], rights: Rights = allRights): Table {
      if (rights === allRights && expand.length === 0) return tableOf(resource).table
      const { key, values } = scopeOf(rights)
      return keep(`${resource.path} ${expand} ${key} ${jsonList(Object.entries(values))}`, () =>
        tableFor(resource, expand, rights),
      )
    },
    async batch(
      { writes, check, isUndone = false, idempotencyKey: given }: WriteBatch,
      rights: Rights = allRights,
    ): Promise<BatchOutcome> {
      const { runner, writes: planner } = tableOf(writes[0]?.resource ?? managed)
      const { keys } = planner
      const writerOf = (resource: Resource) => writersOf(resource, rights).writes
      const { values: scope } = scopeOf(rights)
      return runner.batch({
        kind: 'batch',
        isUndone,
        writes: writes.map(({ resource, write }) => writerOf(resource).plan(write, scope)),
        check: check && writerOf(check.resource).conflicts(check.values, check.id, scope, check.sent),
        ...(given && keys && { key: { given, statements: keys } }),
      })
    },
    planImport: (resource: Resource, rows: Import) => tableOf(resource).planImport(rows, {}),
    async counts(resources: readonly Resource[] = registry): Promise<ReadonlyMap<Resource, number>> {
      const counted = resources.map(async (resource) => [resource, await tableOf(resource).count()] as const)
      return new Map(await Promise.all(counted))
    },
    changed: changed.names,
  }
}
