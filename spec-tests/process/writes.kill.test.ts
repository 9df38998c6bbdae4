/** `kill -9` while clients create, update and delete: a row is as it was or as it was asked to be, and what was answered holds. */
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshUrl } from '../support/database.js'
import { startProcess } from '../support/process.js'

const API_TOKEN = 'a-token-of-some-length'
const environment = { DATABASE_URL: await freshUrl(), API_TOKEN, DEMO_DATA: 'false' }
const rounds = 4

interface Write {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly id: number | undefined
  readonly days: number
  readonly key: string
}

/** A row as its client knows it: `days` of the last answer, undefined once it is deleted; and the write without an answer. */
interface Known {
  id?: number | undefined
  days?: number | undefined
  unanswered?: Write | undefined
}

const send = (address: string, { method, id, days, key }: Write) =>
  fetch(`${address}/api/v1/leave${id === undefined ? '' : `/${id}`}`, {
    method,
    headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json', 'idempotency-key': key },
    // Several pages of the file, so that half a write would show.
    ...(method !== 'DELETE' && {
      body: JSON.stringify({
        days,
        reason: `${days} `.repeat(2_000),
        ...(method === 'POST' && { leave_type: 'Sick' }),
      }),
    }),
  })

/** Makes a write and records its answer. */
const make = async (address: string, known: Known, write: Write): Promise<void> => {
  known.unanswered = write
  const response = await send(address, write)
  const text = await response.text()
  assert.is(response.status, { POST: 201, PATCH: 200, DELETE: 204 }[write.method], text)
  known.unanswered = undefined
  known.id = write.method === 'POST' ? JSON.parse(text).id : write.id
  known.days = write.method === 'DELETE' ? undefined : write.days
}

let count = 0
/** Creates a row, changes it some times and deletes it, again and again until the service is gone. */
const work = async (address: string, known: Known): Promise<void> => {
  for (;;) {
    const isOld = count % 7 === 0
    const method = known.days === undefined ? 'POST' : isOld ? 'DELETE' : 'PATCH'
    count++
    const id = method === 'POST' ? undefined : known.id
    await make(address, known, { method, id, days: count, key: `key-${count}` })
  }
}

const daysNow = async (address: string, id: number): Promise<number | undefined> => {
  const response = await fetch(`${address}/api/v1/leave/${id}`)
  if (response.status === 404) return undefined
  const { days, reason } = (await response.json()) as { days: number; reason: string }
  assert.is(reason, `${days} `.repeat(2_000), 'a row is half of one write and half of another')
  return days
}

const test = suite('kill -9 during writes')

test('rows are old or new, answers hold, and a retry with its key succeeds', async () => {
  const all: Known[] = Array.from({ length: 6 }, () => ({}))
  let running = await startProcess(environment)
  for (let round = 1; round <= rounds; round++) {
    const clients = all.map((known) => work(running.address, known).catch((error) => error))
    await setTimeout(250 * round)
    await running.end('SIGKILL')
    for (const error of await Promise.all(clients)) assert.is(error.name, 'TypeError', error.message)
    running = await startProcess(environment)
    for (const known of all) {
      const { id, unanswered } = known
      if (id !== undefined) {
        const possible = unanswered?.method === 'POST' ? [known.days] : [known.days, unanswered?.days]
        const allowed = unanswered?.method === 'DELETE' ? [known.days, undefined] : possible
        const now = await daysNow(running.address, id)
        assert.ok(allowed.includes(now), `row ${id} has ${now} instead of ${allowed}`)
      }
      if (unanswered) await make(running.address, known, unanswered)
      if (known.id !== undefined) assert.is(await daysNow(running.address, known.id), known.days)
    }
    const { meta } = (await (await fetch(`${running.address}/api/v1/leave?limit=1`)).json()) as {
      meta: { total: number }
    }
    assert.is(meta.total, all.filter(({ days }) => days !== undefined).length)
  }
  assert.is(await running.end('SIGTERM'), 0)
  assert.ok(count > 20)
})

test.run()
