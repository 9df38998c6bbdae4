/** A worker of a Citus cluster that is killed: no request is a 500, nothing is lost or stored unsaid, and all works again with the worker. */
import { EventEmitter } from 'node:events'
import { DatabaseError } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import { OutcomeUnknown, Unavailable } from '../../engine/storage/failures.js'
import { openStorage } from '../../engine/storage/open.js'
import { committing, storageError } from '../../engine/storage/postgres/errors.js'
import { findCitus, startCitus } from '../../support/citusCluster.js'
import { storageOptions } from '../../support/storageOptions.js'
import { distribute } from '../support/citus.js'
import { resourceIn } from '../support/registryFrom.js'
import { clientOf, startService, type TestResponse } from '../support/service.js'

const bin = findCitus()
const test = suite('Citus without a worker')
const onCluster = bin ? test : test.skip

const registry = [
  resourceIn('teams', { name: text({ unique: true }) }),
  resourceIn('tasks', { title: text({ sort: true }), team_id: integer({ references: 'teams', filter: true }) }),
]
const until = async (isDone: () => Promise<boolean>) => {
  const end = performance.now() + 60_000
  while (!(await isDone())) assert.ok(performance.now() < end, 'it takes more than a minute')
}

/** What the coordinator reports after a worker has ended, as the driver throws it. */
const lost = (routine: string) =>
  Object.assign(new DatabaseError('connection lost', 0, 'error'), { code: 'XX000', routine })

test('a lost worker is an outage, and during a commit the outcome is unknown', async () => {
  for (const routine of ['ReportResultError', 'ReportConnectionError', 'ErrorIfPostCommitFailedShardPlacements']) {
    assert.instance(storageError(lost(routine)), Unavailable)
    const commit = committing(new EventEmitter() as never, () => Promise.reject(lost(routine)))
    assert.instance(await commit.catch((error) => error), OutcomeUnknown)
  }
  assert.not.instance(storageError(lost('ExecProcNode')), Unavailable)
  const client = new EventEmitter()
  const unconfirmed = committing(client as never, async () => {
    client.emit('notice', { routine: 'FinishRemoteTransactionCommit', message: 'failed to commit transaction on a:1' })
  })
  assert.instance(await unconfirmed.catch((error) => error), OutcomeUnknown)
})

onCluster('requests are 503 while a worker is down, and work again with it', async () => {
  const { url, workers, stop } = await startCitus(bin as string)
  await (await openStorage(registry, url, { ...storageOptions, derivedObjects: false })).close()
  assert.is(distribute(url, 'tasks').status, 0)
  const warnings: string[] = []
  const pool = { ...storageOptions.pool, waitMs: 2_000 }
  const { address } = await startService({ registry, url, pool, warn: (message) => warnings.push(message) })
  assert.match(warnings[0] as string, 'See docs/postgres.md#without-derived-objects.')
  const { send, get, create } = clientOf(address)
  const statusOf = async (path: string) => (await send(path)).status
  const isReady = async () => (await statusOf('/readyz')) === 200
  assert.ok(await isReady())

  const answers = new Map<string, Promise<TestResponse>>()
  const store = (title: string) => void answers.set(title, create('tasks', { title }))
  for (let n = 0; n < 10; n++) store(`before ${n}`)
  await Promise.all(answers.values())
  // Some of these are under way when the worker ends.
  const reads = Array.from({ length: 20 }, (_, n) => get(`/v1/tasks?sort=-title&limit=${n + 1}`))
  for (let n = 0; n < 20; n++) store(`meanwhile ${n}`)
  workers[0]?.kill()
  for (let n = 0; n < 10; n++) store(`after ${n}`)
  for (const { status, body } of await Promise.all(reads))
    assert.ok(status === 200 || body.error.code === 'unavailable', `${status} ${body?.error?.code}`)
  for (const path of ['tasks', 'tasks?q=before', 'tasks?sort=title', 'tasks?limit=1'])
    assert.is((await get(`/v1/${path}`)).body.error.code, 'unavailable', path)
  assert.is((await get('/v1/teams')).status, 200, 'the coordinator has these rows')
  assert.is(await statusOf('/readyz'), 503)
  assert.is(await statusOf('/api/v1/health'), 503)
  const outcomes = new Map<string, string>()
  for (const [title, answer] of answers) {
    const { status, body } = await answer
    outcomes.set(title, status === 201 ? 'stored' : body.error.code)
  }
  assert.ok([...outcomes.values()].every((outcome) => /^(?:stored|unavailable|outcome_unknown)$/.test(outcome)))
  assert.ok([...outcomes.values()].includes('unavailable'))

  await workers[0]?.start()
  await until(isReady)
  const { body } = await get('/v1/tasks?limit=200')
  const titles = new Set(body.data.map(({ title }: { title: string }) => title))
  for (const [title, outcome] of outcomes)
    if (outcome !== 'outcome_unknown') assert.is(titles.has(title), outcome === 'stored', `${title}: ${outcome}`)
  stop()
})

test.run()
