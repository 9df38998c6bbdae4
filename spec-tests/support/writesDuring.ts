/** Writes of every kind while a database fails: a success is stored and a 503 is not, unless it says that its outcome is unknown. */
import * as assert from 'uvu/assert'
import { checkRows } from '../../stress/crashChecks.js'
import { Ledger } from '../../stress/ledger.js'
import { registry, serviceEnvironment } from '../../stress/service.js'
import { repeatAll, startClients } from '../../stress/writeClients.js'
import { seededRandom } from '../../support/random.js'
import { startService } from './service.js'

/** Runs the faults beside eight clients; `nextResponses` resolves when they have responses to requests that they send from now on. */
export const writesDuring = async (
  settings: Parameters<typeof startService>[0],
  makeFaults: (nextResponses: () => Promise<unknown>) => Promise<void>,
): Promise<void> => {
  const { address } = await startService({ ...settings, registry, token: serviceEnvironment('')['API_TOKEN'] })
  const random = seededRandom(20_260_101)
  const ledger = new Ledger(random, 'faults')
  const writing = startClients(address, 8, ledger, random)
  const nextResponses = () => writing.waitForResponses(ledger.sent.length + 8)
  await nextResponses()
  await makeFaults(nextResponses)
  await writing.stop()
  const stored = ledger.sent.filter(({ response }) => response !== undefined).length
  assert.ok(stored > 0 && stored < ledger.sent.length, `${stored} of ${ledger.sent.length} were stored`)
  assert.equal(await checkRows(address, ledger, false), [])
  await repeatAll(address, ledger)
  assert.equal(await checkRows(address, ledger, true), [])
}
