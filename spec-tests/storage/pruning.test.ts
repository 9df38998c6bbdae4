/** The log is pruned while a service runs: soon after its start, again while there is more, and not once it stops. */
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { type PruningTimes, pruneRegularly } from '../../engine/storage/pruning.js'
import { resourceIn } from '../support/registryFrom.js'

const times: PruningTimes = { startMs: 20, pauseMs: 10, againMs: 200 }
const registry = [resourceIn('books', { title: text() }, { changes: true })]

const test = suite('pruning')

test('it goes on while there is more, and after a failure', async () => {
  const warnings: string[] = []
  const outcomes = [true, true, new Error('locked'), false]
  let calls = 0
  const storage = {
    async pruneLog() {
      const outcome = outcomes[calls++] ?? false
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
  const stop = pruneRegularly({ storage, registry, warn: (message) => warnings.push(message) }, times)
  await sleep(150)
  assert.is(calls, 3)
  assert.equal(warnings, ['The log of changes could not be pruned, and will be later: locked'])
  await sleep(400)
  assert.ok(calls >= 4)
  stop()
  const before = calls
  await sleep(400)
  assert.is(calls, before)
})

test('nothing is pruned where no resource has a log', async () => {
  const storage = {
    async pruneLog(): Promise<boolean> {
      throw new Error('There is no log.')
    },
  }
  const fail = (message: string) => assert.unreachable(message)
  pruneRegularly({ storage, registry: [resourceIn('books', { title: text() })], warn: fail }, times)
  await sleep(100)
})

test.run()
