/** For every resource with access rules: what each role, and each value of a claim, sees and may do, against an oracle with a caller. */
import * as assert from 'uvu/assert'
import { isGuarded, isPublic } from '../../engine/descriptor/access.js'
import { type AccessName, type AccessRule, accessNames, isClaim, rulesOf } from '../../engine/descriptor/define.js'
import { type Resource, updatableFields } from '../../engine/descriptor/registry.js'
import { callersNamed } from '../support/callers.js'
import { derivedSuite } from '../support/derivedSuite.js'
import { startService, token } from '../support/service.js'
import { eachProject } from '../support/tested.js'

interface Caller {
  readonly name: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
}

type Row = Record<string, unknown>

/** Whether a rule holds for a row, written apart from the engine. */
const holds = (rule: AccessRule, { name, roles, claims }: Caller, row: Row): boolean => {
  if (typeof rule === 'string')
    return rule === 'public' || (rule === 'signed-in' ? name !== 'nobody' : roles.includes(rule))
  return Object.entries(rule).every(([field, claimed]) => {
    const value = isClaim(claimed) ? claims[claimed.name] : undefined
    return [value].flat().some((one) => one !== undefined && one === row[field])
  })
}
const seenBy = ({ access, fields }: Resource, caller: Caller, rows: readonly Row[]): Row[] =>
  rows
    .filter(
      (row) => caller.name === 'service' || rulesOf(access?.read ?? 'public').some((rule) => holds(rule, caller, row)),
    )
    .map((row) => {
      const hidden = fields.filter(
        ({ readBy }) => readBy && caller.name !== 'service' && !readBy.some((role) => holds(role, caller, row)),
      )
      return { ...row, ...Object.fromEntries(hidden.map(({ name }) => [name, null])) }
    })

/** Callers for the rules of a resource: one for each role, and some for the claims, with values that rows have. Their names are their keys. */
const callersOf = ({ path, access, fields }: Resource, rows: readonly Row[]): Caller[] => {
  const rules = accessNames.flatMap((name) => rulesOf(access?.[name]))
  const fieldRoles = fields.flatMap(({ readBy = [], writeBy = [] }) => [...readBy, ...writeBy])
  const words = [...rules.filter((rule) => typeof rule === 'string'), ...fieldRoles]
  const roles = [...new Set(words)].filter((word) => word !== 'public')
  const claimed = rules.flatMap((rule) => (typeof rule === 'string' ? [] : Object.entries(rule)))
  const valueIn = (row: Row | undefined) =>
    Object.fromEntries(claimed.map(([field, one]) => [isClaim(one) ? one.name : '', row?.[field] ?? undefined]))
  const lists = Object.fromEntries(
    claimed.map(([field, one]) => [
      isClaim(one) ? one.name : '',
      rows
        .slice(0, 3)
        .map((row) => row[field])
        .filter((value) => value !== null),
    ]),
  )
  const stranger = ['stranger', 'nobody-else'].filter((role) => !roles.includes(role)).slice(0, 1)
  const known = [stranger, ...roles.map((role) => [role])].map((own) => ({ roles: own, claims: {} }))
  const claiming = [valueIn(rows[0]), valueIn(rows.at(-1)), lists].map((claims) => ({ roles: [], claims }))
  return [...known, ...(claimed.length > 0 ? claiming : [])].map((caller, n) => ({ name: `${path}-${n}`, ...caller }))
}

await eachProject(async ({ resources, settings }) => {
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

  for (const resource of guarded) {
    const test = derivedSuite('roles of', resource)
    const { path, access } = resource
    test('every caller sees the rows and fields that the rules say, and may use the operations', async () => {
      const { rows } = await readAll(path, asService)
      const missing = rows.some(({ id }) => id === '999999999') ? '999999998' : '999999999'
      const isAllowed = (caller: Caller, name: AccessName) =>
        rulesOf(access?.[name]).some((rule) =>
          typeof rule === 'string'
            ? holds(rule, caller, {})
            : Object.values(rule).every(
                (one) => isClaim(one) && [caller.claims[one.name]].flat().some((value) => value !== undefined),
              ),
        )
      for (const caller of callersOf(resource, rows)) {
        named[caller.name] = { roles: [...caller.roles], claims: { ...caller.claims } }
        const headers = { authorization: `Bearer ${caller.name}`, 'content-type': 'application/json' }
        const canRead = isPublic(resource) || isAllowed(caller, 'read')
        for (let round = 0; round < 3; round++) {
          const found = await readAll(path, headers)
          assert.is(found.status, canRead ? 200 : 403, JSON.stringify(caller))
          if (canRead && rows.length < 200)
            assert.equal(
              [found.rows, found.total],
              [seenBy(resource, caller, rows), found.rows.length],
              JSON.stringify(caller),
            )
        }
        for (const row of rows.slice(0, 20)) {
          const [seen] = seenBy(resource, caller, [row])
          const one = await service.send(`/api/v1/${path}/${encodeURIComponent(String(row['id']))}`, { headers })
          assert.is(one.status, !canRead ? 403 : seen ? 200 : 404, JSON.stringify([caller, row['id']]))
          if (seen && canRead) assert.equal(one.body, seen)
        }
        // Only whether the operation is allowed at all: an empty body is another matter.
        if (resource.create) {
          const { status } = await service.send(`/api/v1/${path}`, { method: 'POST', headers, body: '[]' })
          assert.is(status, isAllowed(caller, 'create') ? 422 : 403, `${caller.name} creates`)
        }
        if (resource.delete) {
          const { status } = await service.send(`/api/v1/${path}/${missing}`, { method: 'DELETE', headers })
          assert.is(status, isAllowed(caller, 'delete') ? 404 : 403, `${caller.name} deletes`)
        }
      }
      if (!isPublic(resource)) assert.is((await service.send(`/api/v1/${path}`)).status, 401)
    })

    const writable = resource.fields.filter(({ writeBy }) => writeBy)
    const updatable = updatableFields(resource).map(({ name }) => name)
    if (writable.length > 0)
      test('who lacks the role of a field cannot send it, in creates and updates', async () => {
        const { rows } = await readAll(path, asService)
        const unknown = resource.fields.some(({ name }) => name === 'no_such_field')
          ? 'no_such_field_'
          : 'no_such_field'
        for (const caller of callersOf(resource, rows)) {
          named[caller.name] = { roles: [...caller.roles], claims: { ...caller.claims } }
          const headers = { authorization: `Bearer ${caller.name}`, 'content-type': 'application/json' }
          for (const { name, writeBy, readBy } of writable) {
            const lacks = (roles: readonly string[] = ['public']) => !roles.some((role) => holds(role, caller, {}))
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
            if (!updatable.includes(name)) continue
            for (const { id } of rows.slice(0, 3)) await send('PATCH', `${path}/${encodeURIComponent(String(id))}`)
          }
        }
      })
    test.run()
  }
})
