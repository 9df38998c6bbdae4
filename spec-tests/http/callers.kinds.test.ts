/** Row rules over every kind of field and id, with claims of every shape, against an oracle. */
import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { boolean, date, decimal, integer, number, text, timestamp, uuid } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const uuids = [randomUUID(), randomUUID()]
/** The values of each field, and values of another type. */
const kinds: Record<string, { values: unknown[]; wrong: unknown[] }> = {
  word: { values: ['a', 'A', 'ä b', "x'y", 'q?u', '', 'L'.repeat(3_000)], wrong: [1, true, {}] },
  whole: { values: [1, -5, 0, 9_007_199_254_740_991], wrong: ['1', 1.5, true, 2 ** 53] },
  real: { values: [0.1, 3, -2.5, 1e21], wrong: ['3', null] },
  flag: { values: [true, false], wrong: [1, 0, 'true'] },
  day: { values: ['2026-01-01', '0001-01-01'], wrong: ['2026-1-1', 20_260_101] },
  time: { values: ['2026-03-01T09:30:00.000Z', '2026-03-01T09:30:00.001Z'], wrong: ['2026-03-01', 0] },
  key: { values: uuids, wrong: ['x', 1] },
  price: { values: ['12.50', '-0.01', '9999999999.99'], wrong: [12.5, '1.234', 'x'] },
}
const fields = () => ({
  word: text({ filter: true, sort: true }),
  whole: integer({ filter: true, sort: true }),
  real: number({ filter: true }),
  flag: boolean({ filter: true }),
  day: date({ filter: true }),
  time: timestamp({ filter: true }),
  key: uuid({ filter: true }),
  price: decimal({ digits: 12, places: 2, filter: true }),
})
const names = Object.keys(kinds)
type Row = Record<string, unknown>

const test = suite('row rules of every kind')

for (const idKind of ['integer', 'text', 'uuid'] as const) {
  test(`ids of kind ${idKind}`, async () => {
    const makeId = { integer: (n: number) => n + 1, text: (n: number) => `id ${n}/ä`, uuid: () => randomUUID() }[idKind]
    const rows = Array.from({ length: 60 }, (_, n): Row => {
      const value = (name: string, place: number) => [...(kinds[name]?.values ?? []), null].at((n * (place + 3)) % 5)
      return { id: makeId(n), ...Object.fromEntries(names.map((name, place) => [name, value(name, place) ?? null])) }
    })
    const rules = [...names.map((name) => [name]), ['id'], ['flag', 'whole'], ['word', 'price']]
    const resource = resourceIn('things', fields(), {
      id: idKind,
      update: true,
      access: {
        read: rules.map((rule) => Object.fromEntries(rule.map((name) => [name, claim(`${rule} ${name}`)]))),
        update: 'signed-in',
      },
    })
    const ids = rows.map(({ id }) => id)
    const shapes = (name: string): unknown[][] => {
      const { values, wrong } = kinds[name] ?? { values: ids.slice(0, 3), wrong: [{}, null] }
      const [first] = values
      return [[first], values, [first, ...wrong], wrong, Array(100).fill(first), Array(101).fill(first), []]
    }
    const callers: Record<string, { roles: string[]; claims: Row; sees: (row: Row) => boolean }> = {}
    for (const rule of rules)
      for (let shape = 0; shape < 7; shape++) {
        const given = new Map(rule.map((name) => [name, shapes(name)[shape] ?? []]))
        const claims = Object.fromEntries([...given].map(([name, list]) => [`${rule} ${name}`, shape ? list : list[0]]))
        // A row has none of the values of another type.
        const sees = (row: Row) =>
          [...given].every(([name, list]) => list.length <= 100 && row[name] !== null && list.includes(row[name]))
        callers[`${rule}-${shape}`] = { roles: [], claims, sees }
      }
    const service = await startService({ registry: [resource], credentials: callersNamed(callers) })
    await service.fill([{ resource, rows: rows as never }])
    for (const [name, { sees }] of Object.entries(callers)) {
      const headers = { authorization: `Bearer ${name}`, 'content-type': 'application/json' }
      const expected = rows.filter(sees)
      const isRead = !/-[356]$/.test(name)
      for (const query of ['limit=200', 'limit=200', 'limit=200&sort=-word']) {
        const { status, body } = await service.send(`/api/v1/things?${query}`, { headers })
        assert.is(status, isRead ? 200 : 403, name)
        if (!isRead) continue
        const found = (body.data as Row[]).toSorted((a, b) => ids.indexOf(a['id']) - ids.indexOf(b['id']))
        assert.equal([found, body.meta.total], [expected, expected.length], `${name} ${query}`)
      }
      for (const row of isRead ? rows.slice(0, 6) : []) {
        const path = `/api/v1/things/${encodeURIComponent(String(row['id']))}`
        assert.is((await service.send(path, { headers })).status, sees(row) ? 200 : 404, name)
        const changed = await service.send(path, { method: 'PATCH', headers, body: '{}' })
        assert.is(changed.status, sees(row) ? 200 : 404, name)
      }
    }
  })
}

test.run()
