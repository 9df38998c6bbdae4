/** Transactions that wait for others until their time is over. */
import { setTimeout as delay } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defineOperation, defineResource, text } from '../../engine/descriptor/index.js'
import { operationsNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, clientOf, startService } from '../support/service.js'

const notes = defineResource({
  name: 'Note',
  area: 'Test',
  table: 'notes',
  fields: { text: text() },
  required: [],
  create: true,
})
const operation = (name: string, ms: number) =>
  defineOperation({
    method: 'POST',
    path: `/v1/${name}`,
    about: 'Writes a note, and waits.',
    timeoutMs: 30_000,
    async handle({ of }) {
      const note = await of(notes).create({ text: name })
      await delay(ms)
      return note.id
    },
  })
const operations = operationsNamed({ hold: operation('hold', 20_000), pass: operation('pass', 0) })
const { address } = await startService({ registry: registryFrom({ notes }), operations })
const { send } = clientOf(address)
const post = (path: string) => send(`/api/v1/${path}`, { method: 'POST', headers: authorized })

const test = suite('transactions that wait')

test('one that others let wait for 30 seconds is 503 busy, stores nothing, and reads go on', async () => {
  const holding = Promise.all([post('hold'), post('hold')])
  await delay(500)
  let isWaiting = true
  const waiting = post('pass').finally(() => {
    isWaiting = false
  })
  assert.is((await send('/api/v1/notes')).status, 200)
  assert.ok(isWaiting)
  const { status, body, headers } = await waiting
  assert.equal([status, body.error.code, headers['retry-after'] !== undefined], [503, 'busy', true])
  assert.not.match(body.error.message, /reads/)
  const stored = (await holding).filter((response) => response.status === 200).length
  assert.is((await send('/api/v1/notes')).body.meta.total, stored)
  assert.is((await post('pass')).status, 200)
})

test.run()
