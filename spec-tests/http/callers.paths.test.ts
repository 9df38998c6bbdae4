/** Rules of access that follow references: random registries, rows, callers and writes against an oracle of its own. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type AccessRule, claim, isClaim } from '../../engine/descriptor/define.js'
import { integer, text, uuid } from '../../engine/descriptor/index.js'
import { isPath, withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { seededRandom } from '../../support/random.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, closeServices, followPages, startService } from '../support/service.js'

type Row = Record<string, number | string | null> & { id: number | string }
type Rules = Partial<Record<'read' | 'create' | 'update' | 'delete', AccessRule[]>>

interface Table {
  readonly path: string
  readonly id: 'integer' | 'uuid' | 'text'
  /** The tables that its two references name. */
  readonly targets: Readonly<Record<'ref_id' | 'other_id', string>>
  readonly access: Rules
}

interface Caller {
  readonly roles: string[]
  readonly claims: Record<string, unknown>
}

const kinds = ['red', 'green', 'blue']
const idOf = (table: Pick<Table, 'id'>, n: number): number | string => {
  if (table.id === 'integer') return n
  return table.id === 'text' ? `Key ${n} ä` : `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
}

/** Whether a rule allows a row, as the decisions say it. */
const holds = (rule: AccessRule, { roles, claims }: Caller, table: Table, row: Row, tables: World): boolean => {
  if (typeof rule === 'string') return rule === 'signed-in' || roles.includes(rule)
  return Object.entries(rule).every(([path, claimed]) => {
    const names = path.split('.')
    let [at, current]: [Table, Row | undefined] = [table, row]
    while (names.length > 1 && current) {
      const name = names.shift() as 'ref_id' | 'other_id'
      const target: Table = tables.find(at.targets[name])
      const id: number | string | null = current[name] ?? null
      current = id === null ? undefined : tables.rows(target.path).find((one) => one.id === id)
      at = target
    }
    const value = current?.[names[0] as string] ?? null
    const allowed = [isClaim(claimed) ? (claims[claimed.name] ?? []) : []].flat()
    return value !== null && allowed.includes(value)
  })
}

class World {
  readonly stored = new Map<string, Row[]>()
  readonly tables: readonly Table[]
  constructor(tables: readonly Table[]) {
    this.tables = tables
  }
  find(path: string): Table {
    return this.tables.find((one) => one.path === path) as Table
  }
  rows(path: string): Row[] {
    return this.stored.get(path) ?? []
  }
  /** Whether any rule gives the caller the operation at all: a role, or claims that it has, of the right type. */
  may(table: Table, use: keyof Rules, caller: Caller): boolean {
    return (table.access[use] ?? []).some((rule) =>
      typeof rule === 'string'
        ? rule === 'signed-in' || caller.roles.includes(rule)
        : Object.values(rule).every((one) => isClaim(one) && [caller.claims[one.name] ?? []].flat().length > 0),
    )
  }
  allows(table: Table, use: keyof Rules, caller: Caller, row: Row): boolean {
    return (table.access[use] ?? []).some((rule) => holds(rule, caller, table, row, this))
  }
  visible(table: Table, caller: Caller): Row[] {
    return this.rows(table.path).filter((row) => this.allows(table, 'read', caller, row))
  }
}

/** A registry of four tables with references in all directions, and rules of one to three steps. */
const randomTables = (pick: <T>(values: readonly T[]) => T, chance: (part: number) => boolean): Table[] => {
  const paths = ['as', 'bs', 'cs', 'ds']
  const shapes = paths.map((path) => ({
    path,
    id: pick(['integer', 'uuid', 'text'] as const),
    targets: { ref_id: pick(paths), other_id: pick(paths) },
  }))
  const shapeAt = (path: string) => shapes.find((one) => one.path === path) as (typeof shapes)[number]
  const rule = (path: string): AccessRule => {
    const member = (): [string, unknown] => {
      const names: string[] = []
      let at = shapeAt(path)
      for (let steps = pick([0, 1, 1, 2, 3]); steps > 0; steps--) {
        const name = pick(['ref_id', 'other_id'] as const)
        names.push(name)
        at = shapeAt(at.targets[name])
      }
      const last = pick(['kind', 'n', 'id', 'kind'])
      return [[...names, last].join('.'), claim(last === 'id' ? `${at.path}_${at.id}` : last)]
    }
    return Object.fromEntries(Array.from({ length: chance(0.3) ? 2 : 1 }, member)) as AccessRule
  }
  const rules = (path: string): AccessRule[] => [
    ...(chance(0.3) ? ['boss'] : []),
    ...Array.from({ length: pick([1, 1, 2]) }, () => rule(path)),
  ]
  return shapes.map((shape) => ({
    ...shape,
    access: {
      read: rules(shape.path),
      create: rules(shape.path),
      update: rules(shape.path),
      delete: rules(shape.path),
    },
  }))
}

const registryOf = (tables: readonly Table[]) => {
  return withRulePaths(
    tables.map(({ path, id, targets, access }) => {
      const reference = (name: 'ref_id' | 'other_id') => {
        const { id: kind } = tables.find((one) => one.path === targets[name]) as Table
        const options = { references: targets[name], filter: true, onDelete: 'set null' } as const
        if (kind === 'integer') return integer(options)
        return kind === 'text' ? text(options) : uuid(options)
      }
      return resourceIn(
        path,
        {
          ref_id: reference('ref_id'),
          other_id: reference('other_id'),
          kind: text({ filter: true, sort: true }),
          n: integer({ filter: true, range: true }),
        },
        {
          ...{ id, update: true, delete: true, summary: true, import: true },
          access: access as never,
        },
      )
    }),
  )
}

const test = suite('rules through references')
test.after.each(closeServices)

// Each takes seconds of the processor: most of them run with --all only.
const [registries, rounds] = process.env['TEST_ALL'] ? [6, 6] : [3, 2]
const seeds = Array.from({ length: registries }, (_, n) => n + 1)
for (const seed of seeds)
  test(`reads and writes are those that the rules allow (registry ${seed})`, async () => {
    const { pick, chance, below } = seededRandom(seed)
    const world = new World(randomTables(pick, chance))
    const registry = registryOf(world.tables)
    const callers: Record<string, Caller> = { boss: { roles: ['boss'], claims: {} }, empty: { roles: [], claims: {} } }
    for (const name of ['c1', 'c2', 'c3', 'c4']) {
      const ids = world.tables.map((table): [string, unknown] => [
        `${table.path}_${table.id}`,
        chance(0.5) ? idOf(table, below(12) + 1) : [idOf(table, below(12) + 1), idOf(table, below(12) + 1)],
      ])
      const n = chance(0.5) ? below(3) : [below(3), 7]
      callers[name] = { roles: [], claims: { kind: pick([...kinds, ['red', 'blue']]), n, ...Object.fromEntries(ids) } }
    }
    const service = await startService({ registry, credentials: callersNamed(callers), batch: true })
    const some = (path: string) => idOf(world.find(path), below(12) + 1)
    for (const table of world.tables)
      world.stored.set(
        table.path,
        Array.from({ length: 12 }, (_, n) => ({
          id: idOf(table, n + 1),
          ref_id: null,
          other_id: null,
          kind: pick(kinds),
          n: below(3),
        })),
      )
    for (const table of world.tables)
      for (const row of world.rows(table.path)) {
        if (chance(0.9)) row['ref_id'] = some(table.targets.ref_id)
        if (chance(0.7)) row['other_id'] = some(table.targets.other_id)
        if (chance(0.1)) row['kind'] = null
      }
    await service.fill(
      registry.map((resource) => ({ resource, rows: world.rows(resource.path).map((row) => ({ ...row })) as never })),
    )

    const sorted = (rows: readonly Row[]) => [...rows].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
    const compareReads = async (name: string) => {
      const caller = callers[name] as Caller
      const headers = { authorization: `Bearer ${name}` }
      for (const table of world.tables) {
        const url = `/api/v1/${table.path}`
        const what = JSON.stringify([seed, name, table])
        const visible = world.visible(table, caller)
        if (!world.may(table, 'read', caller)) {
          assert.is((await service.send(url, { headers })).status, 403, what)
          continue
        }
        const query = pick(['', 'kind=red&', 'n.gte=1&', 'sort=-kind&', 'sort=kind&n=1&', 'q=re&'])
        const matching = visible.filter((row) => {
          if (query.startsWith('kind=') && row['kind'] !== 'red') return false
          if (query.startsWith('n.gte') && !((row['n'] as number) >= 1)) return false
          if (query.includes('n=1') && row['n'] !== 1) return false
          return !(query === 'q=re&' && !String(row['kind'] ?? '').includes('re'))
        })
        const page = await service.send(`${url}?${query}limit=5`, { headers })
        assert.is(page.body.meta?.total, matching.length, `${what} ${query}`)
        const rows = (await followPages(service, `${url}?${query}limit=5`, { headers })) as Row[]
        assert.equal(sorted(rows), sorted(matching), `${what} ${query}`)
        const summary = await service.send(`${url}/summary?by=kind`, { headers })
        assert.is(summary.body.meta.rows, visible.length, what)
        for (const row of world.rows(table.path).slice(0, 12)) {
          const one = await service.send(`${url}/${encodeURIComponent(row.id)}?expand=ref_id`, { headers })
          assert.is(one.status, visible.includes(row) ? 200 : 404, `${what} ${row.id}`)
          if (!visible.includes(row)) continue
          const target = world.find(table.targets.ref_id)
          const shown = world.visible(target, caller).find(({ id }) => id === row['ref_id'])
          const { expanded, ...itself } = one.body
          assert.equal(
            [itself, expanded.ref_id],
            [row, world.may(target, 'read', caller) ? (shown ?? null) : null],
            what,
          )
        }
        const exported = await service.send(url, { headers: { ...headers, accept: 'application/x-ndjson' } })
        const lines = exported.text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Row)
        assert.equal(sorted(lines), sorted(visible), what)
      }
    }

    const randomBody = (table: Table): Record<string, unknown> => ({
      ...(chance(0.7) && { ref_id: chance(0.1) ? null : some(table.targets.ref_id) }),
      ...(chance(0.4) && { other_id: some(table.targets.other_id) }),
      ...(chance(0.5) && { kind: pick(kinds) }),
      ...(chance(0.5) && { n: below(3) }),
    })
    const isWrong = (table: Table, caller: Caller, body: Record<string, unknown>): boolean =>
      (['ref_id', 'other_id'] as const).some((name) => {
        const target = world.find(table.targets[name])
        return (body[name] ?? null) !== null && !world.visible(target, caller).some(({ id }) => id === body[name])
      })
    let made = 100
    const compareWrite = async (name: string) => {
      const caller = callers[name] as Caller
      const table = pick(world.tables)
      const url = `/api/v1/${table.path}`
      const headers = { authorization: `Bearer ${name}`, 'content-type': 'application/json' }
      const canRead = world.may(table, 'read', caller)
      const rows = world.rows(table.path)
      const body = randomBody(table)
      const use = pick(['create', 'update', 'update', 'delete', 'import'] as const)
      const what = JSON.stringify([seed, name, use, table, body])
      if (use === 'create' || use === 'import') {
        const key = `Made ${++made}`
        const sent = { ...(table.id === 'text' && { id: key }), ...body }
        const row = { id: key, ref_id: null, other_id: null, kind: null, n: null, ...body } as Row
        rows.push(row)
        const isInside =
          world.allows(table, 'create', caller, row) && (!canRead || world.allows(table, 'read', caller, row))
        rows.pop()
        const expected = !world.may(table, 'create', caller)
          ? 403
          : isWrong(table, caller, body)
            ? 422
            : isInside
              ? 201
              : 403
        const answer = await service.send(use === 'import' ? `${url}/import` : url, {
          method: 'POST',
          headers,
          body: JSON.stringify(use === 'import' ? [sent] : sent),
        })
        assert.is(answer.status, expected, `${what} ${answer.text}`)
        if (answer.status === 201) {
          const id = use === 'import' ? answer.body.ids[0] : answer.body.id
          rows.push({ ...row, id })
        }
        return
      }
      const row = pick(rows)
      const at = `${url}/${encodeURIComponent(row.id)}`
      const seen = canRead && world.allows(table, 'read', caller, row)
      if (use === 'update') {
        const before = { ...row }
        const isOpen = world.allows(table, 'update', caller, row)
        const isInvalid = isWrong(table, caller, body)
        Object.assign(row, body)
        const isInside = world.allows(table, 'update', caller, row) && world.allows(table, 'read', caller, row)
        const isSame = JSON.stringify(before) === JSON.stringify(row)
        const expected = !world.may(table, 'update', caller)
          ? 403
          : !seen
            ? 404
            : !isOpen
              ? 403
              : isInvalid
                ? 422
                : isInside || isSame
                  ? 200
                  : 403
        const answer = await service.send(at, { method: 'PATCH', headers, body: JSON.stringify(body) })
        if (answer.status !== 200) Object.assign(row, before)
        assert.is(answer.status, expected, `${what} ${row.id} ${answer.text}`)
        return
      }
      const expected = !world.may(table, 'delete', caller)
        ? 403
        : !seen
          ? 404
          : world.allows(table, 'delete', caller, row)
            ? 204
            : 403
      const answer = await service.send(at, { method: 'DELETE', headers })
      assert.is(answer.status, expected, `${what} ${row.id} ${answer.text}`)
      if (answer.status !== 204) return
      rows.splice(rows.indexOf(row), 1)
      for (const other of world.tables)
        for (const name of ['ref_id', 'other_id'] as const)
          for (const one of world.rows(other.path))
            if (other.targets[name] === table.path && one[name] === row.id) one[name] = null
    }

    for (const name of Object.keys(callers)) await compareReads(name)
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < 15; n++) await compareWrite(pick(Object.keys(callers)))
      // Somebody else changes what rules depend on: the views change at once.
      const table = pick(world.tables)
      const row = pick(world.rows(table.path))
      const change = { kind: pick(kinds), n: below(3), ref_id: some(table.targets.ref_id) }
      if (!world.rows(table.targets.ref_id).some(({ id }) => id === change.ref_id)) continue
      Object.assign(row, change)
      const { status } = await service.change(`${table.path}/${encodeURIComponent(row.id)}`, change, authorized)
      assert.is(status, 200)
      for (const name of Object.keys(callers)) await compareReads(name)
    }
    assert.ok(registry.some(({ rulePaths }) => [...(rulePaths?.keys() ?? [])].some(isPath)))
  })

test('a batch holds at its end, whatever its later writes change', async () => {
  const own = { 'ref_id.kind': claim('kind') }
  const registry = withRulePaths([
    resourceIn('groups', { kind: text({ filter: true }) }, { create: true, update: true }),
    resourceIn(
      'things',
      { ref_id: integer({ references: 'groups', filter: true }) },
      { create: true, update: true, delete: true, access: { read: own, create: own, update: own, delete: own } },
    ),
  ])
  const groups = resourceIn(
    'groups',
    { kind: text({ filter: true }) },
    {
      create: true,
      update: true,
      access: { read: 'signed-in', update: 'signed-in', create: 'signed-in' },
    },
  )
  const service = await startService({
    registry: [groups, ...registry.slice(1)],
    credentials: callersNamed({ one: { roles: [], claims: { kind: 'red' } } }),
    batch: true,
  })
  await service.fill([
    {
      resource: groups,
      rows: [
        { id: 1, kind: 'blue' },
        { id: 2, kind: 'red' },
      ],
    },
  ])
  const headers = { authorization: 'Bearer one', 'content-type': 'application/json' }
  const group = (kind: string) => ({ method: 'PATCH', path: '/v1/groups/1', body: { kind } })
  const thing = { method: 'POST', path: '/v1/things', body: { ref_id: 1 } }
  const send = async (...operations: object[]) => {
    const { status, body } = await service.send('/api/v1/batch', {
      method: 'POST',
      headers,
      body: JSON.stringify({ operations }),
    })
    return [status, body.error?.details?.operation]
  }
  assert.equal(await send(group('red'), thing, group('blue')), [403, 1])
  assert.is((await service.send('/api/v1/things', { headers })).body.meta.total, 0)
  assert.equal(await send(group('red'), thing), [200, undefined])
  // A row that a later write deletes is nobody's.
  const { id } = (await service.send('/api/v1/things', { headers })).body.data[0]
  assert.equal(
    await send(
      { method: 'PATCH', path: `/v1/things/${id}`, body: { ref_id: 2 } },
      { method: 'DELETE', path: `/v1/things/${id}` },
      group('blue'),
    ),
    [200, undefined],
  )
})

test.run()
