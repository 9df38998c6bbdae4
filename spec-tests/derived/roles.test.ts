/** For every resource with access rules: what each role, and each value of a claim, sees and may do, against an oracle that follows references itself. */
import * as assert from 'uvu/assert'
import { isGuarded, isPublic } from '../../engine/descriptor/access.js'
import { type AccessName, type AccessRule, accessNames, isClaim, rulesOf } from '../../engine/descriptor/define.js'
import { type Registry, type Resource, type RowValues, updatableFields } from '../../engine/descriptor/registry.js'
import { isPath } from '../../engine/descriptor/rulePaths.js'
import { NoSample } from '../../engine/descriptor/sampleRows.js'
import { callersNamed } from '../support/callers.js'
import { derivedSuite, ifFound } from '../support/derivedSuite.js'
import { freshBodies } from '../support/freshBodies.js'
import { followPages, startService, token } from '../support/service.js'
import { eachProject } from '../support/tested.js'

interface Caller {
  readonly name: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
}

type Row = Record<string, unknown>

/** The value that a rule compares: of a field of the row, or of the row that its references lead to. Null if there is no such row. */
type Follow = (resource: Resource, row: Row, name: string) => unknown

/** Follows names through rows, by path. */
const followIn =
  (registry: Registry, rows: ReadonlyMap<string, readonly Row[]>): Follow =>
  (resource, row, name) => {
    const [field = '', ...rest] = name.split('.')
    const value = row[field] ?? null
    if (rest.length === 0 || value === null) return value
    const target = targetOf(registry, resource, field)
    const next = rows.get(target.path)?.find(({ id }) => id === value)
    return next ? followIn(registry, rows)(target, next, rest.join('.')) : null
  }

const targetOf = (registry: Registry, { fields }: Resource, field: string): Resource => {
  const path = fields.find(({ name }) => name === field)?.references
  return registry.find((resource) => resource.path === path) as Resource
}

const allows = (role: string, { name, roles }: Caller): boolean =>
  role === 'public' || (role === 'signed-in' ? name !== 'nobody' : roles.includes(role))

/** The names in a rule, each with the name of the claim that it compares. */
const claimsIn = (rule: AccessRule): [name: string, claim: string][] =>
  typeof rule === 'string' ? [] : Object.entries(rule).map(([name, one]) => [name, isClaim(one) ? one.name : ''])

/** Whether a rule holds for a row, written apart from the engine. */
const holds = (rule: AccessRule, caller: Caller, resource: Resource, row: Row, follow: Follow): boolean =>
  typeof rule === 'string'
    ? allows(rule, caller)
    : claimsIn(rule).every(([name, claimed]) => {
        const value = follow(resource, row, name)
        return value !== null && [caller.claims[claimed]].flat().includes(value)
      })

/** Whether a caller may do something to a row. */
const mayUse = (name: AccessName, caller: Caller, resource: Resource, row: Row, follow: Follow): boolean =>
  rulesOf(resource.access?.[name] ?? (name === 'read' ? 'public' : [])).some((rule) =>
    holds(rule, caller, resource, row, follow),
  )

/** Whether a caller may use an operation for any rows. */
const isOpen = (name: AccessName, caller: Caller, { access }: Resource): boolean =>
  rulesOf(access?.[name]).some((rule) =>
    typeof rule === 'string'
      ? allows(rule, caller)
      : claimsIn(rule).every(([, claimed]) => [caller.claims[claimed]].flat().some((value) => value !== undefined)),
  )

const seenBy = (resource: Resource, caller: Caller, rows: readonly Row[], follow: Follow): Row[] =>
  rows
    .filter((row) => mayUse('read', caller, resource, row, follow))
    .map((row) => {
      const hidden = resource.fields.filter(({ readBy }) => readBy && !readBy.some((role) => allows(role, caller)))
      return { ...row, ...Object.fromEntries(hidden.map(({ name }) => [name, null])) }
    })

const rulesIn = ({ access }: Resource): AccessRule[] => accessNames.flatMap((name) => rulesOf(access?.[name]))

/** The claims with which a row is inside rules. */
const claimsFor = (rules: readonly AccessRule[], resource: Resource, row: Row | undefined, follow: Follow) =>
  Object.fromEntries(
    rules.flatMap(claimsIn).map(([name, claimed]) => [claimed, (row && follow(resource, row, name)) ?? undefined]),
  )

/** Callers for the rules of a resource: one for each role, and some for the claims, with values that rows have. Their names are their keys. */
const callersOf = (resource: Resource, rows: readonly Row[], follow: Follow): Caller[] => {
  const rules = rulesIn(resource)
  const fieldRoles = resource.fields.flatMap(({ readBy = [], writeBy = [] }) => [...readBy, ...writeBy])
  const words = [...rules.filter((rule) => typeof rule === 'string'), ...fieldRoles]
  const roles = [...new Set(words)].filter((word) => word !== 'public')
  const claimed = rules.flatMap(claimsIn)
  const valuesIn = (row: Row | undefined) => claimsFor(rules, resource, row, follow)
  const lists = Object.fromEntries(
    claimed.map(([name, one]) => [
      one,
      rows
        .slice(0, 3)
        .map((row) => follow(resource, row, name))
        .filter((value) => value !== null),
    ]),
  )
  const stranger = ['stranger', 'nobody-else'].filter((role) => !roles.includes(role)).slice(0, 1)
  const known = [stranger, ...roles.map((role) => [role])].map((own) => ({ roles: own, claims: {} }))
  const claiming = [valuesIn(rows[0]), valuesIn(rows.at(-1)), lists].map((claims) => ({ roles: [], claims }))
  return [...known, ...(claimed.length > 0 ? claiming : [])].map((caller, n) => ({
    name: `${resource.path}-${n}`,
    ...caller,
  }))
}

await eachProject(async ({ registry, resources, settings }) => {
  const guarded = resources.filter(
    (resource) => resource.access || isGuarded(resource) || resource.fields.some(({ writeBy }) => writeBy),
  )
  if (guarded.length === 0) return
  const named: Record<string, { roles: string[]; claims: Record<string, unknown> }> = {}
  const service = await startService({ ...settings, credentials: callersNamed(named) })
  const asService = { authorization: `Bearer ${token}` }

  const readAll = async (path: string, headers: Record<string, string>) => {
    const found = await service.send(`/api/v1/${path}?limit=200`, { headers })
    return { status: found.status, rows: found.body.data as Row[], total: found.body.meta?.total as number }
  }
  const readEvery = (path: string, headers: Record<string, string>) =>
    followPages(service, `/api/v1/${path}?limit=200`, { headers })

  /** Follows names through the rows as they are stored now. */
  const readFollow = async (resource: Resource): Promise<Follow> => {
    const paths = new Set<string>()
    for (const [name] of rulesIn(resource).flatMap(claimsIn)) {
      let at = resource
      for (const field of name.split('.').slice(0, -1)) {
        at = targetOf(registry, at, field)
        paths.add(at.path)
      }
    }
    const lists = [...paths].map(async (path) => [path, await readEvery(path, asService)] as const)
    return followIn(registry, new Map(await Promise.all(lists)))
  }

  const { freshRow } = freshBodies(
    { ...service, get: (path) => service.send(`/api${path}`, { headers: asService }) },
    registry,
  )

  /** Stores a row from which each of the names leads to a value, with the rows on the way. */
  const storeRow = async (resource: Resource, names: readonly string[]): Promise<RowValues> => {
    const values: RowValues = {}
    for (const field of new Set(names.map((name) => name.split('.')[0] as string))) {
      const target = resource.fields.find(({ name }) => name === field)?.references
      if (target === undefined) continue
      const rest = names.flatMap((name) => (name.startsWith(`${field}.`) ? [name.slice(field.length + 1)] : []))
      values[field] = (await storeRow(targetOf(registry, resource, field), rest))['id'] ?? null
    }
    const { row } = await freshRow(resource, values)
    const missing = names.find((name) => (row[name.split('.')[0] as string] ?? null) === null)
    if (missing !== undefined) throw new NoSample(`no sample of ${resource.path} has a value in ${missing}`)
    return row
  }

  for (const resource of guarded) {
    const test = derivedSuite('roles of', resource)
    const { path } = resource
    test('every caller sees the rows and fields that the rules say, and may use the operations', async () => {
      const { rows } = await readAll(path, asService)
      const follow = await readFollow(resource)
      const missing = rows.some(({ id }) => id === '999999999') ? '999999998' : '999999999'
      for (const caller of callersOf(resource, rows, follow)) {
        named[caller.name] = { roles: [...caller.roles], claims: { ...caller.claims } }
        const headers = { authorization: `Bearer ${caller.name}`, 'content-type': 'application/json' }
        const canRead = isPublic(resource) || isOpen('read', caller, resource)
        for (let round = 0; round < 3; round++) {
          const found = await readAll(path, headers)
          assert.is(found.status, canRead ? 200 : 403, JSON.stringify(caller))
          if (canRead && rows.length < 200)
            assert.equal(
              [found.rows, found.total],
              [seenBy(resource, caller, rows, follow), found.rows.length],
              JSON.stringify(caller),
            )
        }
        for (const row of rows.slice(0, 20)) {
          const [seen] = seenBy(resource, caller, [row], follow)
          const one = await service.send(`/api/v1/${path}/${encodeURIComponent(String(row['id']))}`, { headers })
          assert.is(one.status, !canRead ? 403 : seen ? 200 : 404, JSON.stringify([caller, row['id']]))
          if (seen && canRead) assert.equal(one.body, seen)
        }
        // Only whether the operation is allowed at all: an empty body is another matter.
        if (resource.create) {
          const { status } = await service.send(`/api/v1/${path}`, { method: 'POST', headers, body: '[]' })
          assert.is(status, isOpen('create', caller, resource) ? 422 : 403, `${caller.name} creates`)
        }
        if (resource.delete) {
          const { status } = await service.send(`/api/v1/${path}/${missing}`, { method: 'DELETE', headers })
          assert.is(status, isOpen('delete', caller, resource) ? 404 : 403, `${caller.name} deletes`)
        }
      }
      if (!isPublic(resource)) assert.is((await service.send(`/api/v1/${path}`)).status, 401)
    })

    const updatable = updatableFields(resource)
    /** The rules that follow references, each once. */
    const throughReferences = [
      ...new Map(
        rulesIn(resource)
          .filter((rule) => claimsIn(rule).some(([name]) => isPath(name)))
          .map((rule) => [JSON.stringify(claimsIn(rule)), rule]),
      ).values(),
    ]
    if (throughReferences.length > 0)
      test('a rule through references allows the rows of one caller and not those of another', async () => {
        for (const [n, rule] of throughReferences.entries()) {
          const own = claimsIn(rule).map(([name]) => name)
          const names = rulesIn(resource).flatMap((one) => claimsIn(one).map(([name]) => name))
          // Inside all rules, if their fields can have values.
          const inside = (await ifFound(storeRow(resource, names))) ?? (await storeRow(resource, own))
          const before = await readFollow(resource)
          const claims = [rulesIn(resource), [rule]].map((rules) => claimsFor(rules, resource, inside, before))
          const caller: Caller = { name: `${path}-through-${n}`, roles: [], claims: Object.assign({}, ...claims) }
          named[caller.name] = { roles: [], claims: { ...caller.claims } }
          const headers = { authorization: `Bearer ${caller.name}`, 'content-type': 'application/json' }

          // A field of few values differs in another turn, or where the references lead nowhere.
          const store = [() => storeRow(resource, own), async () => (await freshRow(resource)).row]
          let follow = before
          let outside: RowValues | undefined
          for (const next of [...store, ...store]) {
            const row = await next()
            follow = await readFollow(resource)
            outside = holds(rule, caller, resource, row, follow) ? undefined : row
            if (outside) break
          }
          assert.ok(holds(rule, caller, resource, inside, follow), JSON.stringify([caller, inside]))
          if (!outside) throw new NoSample(`all samples of ${path} have the same ${own.join(' and ')}`)

          const may = (name: AccessName, row: Row) => mayUse(name, caller, resource, row, follow)
          const change = updatable.find(
            ({ name, references, kind, readBy, writeBy, redacted }) =>
              !references && kind !== 'json' && !readBy && !writeBy && !redacted && (inside[name] ?? null) !== null,
          )?.name
          const all = await readEvery(path, asService)
          if (isOpen('read', caller, resource))
            assert.equal(await readEvery(path, headers), seenBy(resource, caller, all, follow))
          for (const row of [inside, outside]) {
            const at = `/api/v1/${path}/${encodeURIComponent(String(row['id']))}`
            const send = async (name: AccessName, method: string, success: number, body?: string) => {
              const { status } = await service.send(at, { method, headers, ...(body !== undefined && { body }) })
              const isSeen = isOpen('read', caller, resource) && may('read', row)
              const expected = !isOpen(name, caller, resource) ? 403 : !isSeen ? 404 : may(name, row) ? success : 403
              assert.is(status, expected, `${method} ${JSON.stringify([caller, row])}`)
            }
            await send('read', 'GET', 200)
            if (change) await send('update', 'PATCH', 200, JSON.stringify({ [change]: row[change] ?? null }))
            if (resource.delete) await send('delete', 'DELETE', 204)
          }
        }
      })

    const writable = resource.fields.filter(({ writeBy }) => writeBy)
    if (writable.length > 0)
      test('who lacks the role of a field cannot send it, in creates and updates', async () => {
        const { rows } = await readAll(path, asService)
        const unknown = resource.fields.some(({ name }) => name === 'no_such_field')
          ? 'no_such_field_'
          : 'no_such_field'
        for (const caller of callersOf(resource, rows, await readFollow(resource))) {
          named[caller.name] = { roles: [...caller.roles], claims: { ...caller.claims } }
          const headers = { authorization: `Bearer ${caller.name}`, 'content-type': 'application/json' }
          for (const { name, writeBy, readBy } of writable) {
            const lacks = (roles: readonly string[] = ['public']) => !roles.some((role) => allows(role, caller))
            // Nothing is stored, whoever sends it.
            const body = JSON.stringify({ [name]: null, [unknown]: 1 })
            const send = async (method: 'POST' | 'PATCH', url: string) => {
              const { status, body: sent } = await service.send(`/api/v1/${url}`, { method, headers, body })
              if (status === 403 || status === 404) return
              const issues: { type: string; loc: string[] }[] = sent.error.details.issues
              const isRefused = issues.some(({ type, loc }) => type === 'extra_forbidden' && loc[1] === name)
              assert.equal(
                [status, isRefused],
                [422, lacks(writeBy) || lacks(readBy)],
                `${caller.name} ${method} ${name}`,
              )
            }
            if (resource.create) await send('POST', path)
            if (!updatable.some((field) => field.name === name)) continue
            for (const { id } of rows.slice(0, 3)) await send('PATCH', `${path}/${encodeURIComponent(String(id))}`)
          }
        }
      })
    test.run()
  }
})
