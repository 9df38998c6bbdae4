/** Kills the service while clients create rows, restarts it, and checks that no row is lost or damaged; repeatedly. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { loadRegistry } from '../engine/descriptor/load.js'
import { freePort } from '../engine/process/supervise.js'
import { folders } from '../product.js'
import { temporaryFolder } from '../support/cleanup.js'
import { launch, type RunningService, startProcess } from '../support/process.js'
import { RawConnection } from '../support/rawHttp.js'
import { checkRows } from './crashChecks.js'
import { retryUntilAcknowledged, startClients, WrongResponse } from './createClients.js'
import { checkFile } from './fileChecks.js'
import { killAll, killAllAfter, killWorker } from './kill.js'
import { type Create, createGenerator } from './ledger.js'
import { seededRandom } from './random.js'
import { allRows, environmentOf, makeFile, waitUntilReady } from './service.js'

export interface CrashTestOptions {
  readonly rounds: number
  readonly workers: number
  readonly seed: number
  readonly onProgress: (rounds: number) => void
}

export interface CrashTestResult {
  rounds: number
  sent: number
  acknowledged: number
  /** Creates whose response was lost, but whose row is stored. */
  recovered: number
  killsDuringStart: number
  /** The duration of each restart in milliseconds. */
  readonly restarts: number[]
  readonly failures: string[]
  /** The database file, if a check failed. */
  file: string | undefined
}

const clients = 6

/** Limits of the random moment of a kill: responses before it, and milliseconds after those. */
const killMoment = { maxResponses: 60, maxDelayMs: 30 }

/** Checks take longer the more rows a file has, so that each file is used for this many rounds only. */
const roundsPerFile = 25

/** Some starts are killed. */
const startKill = { share: 0.1, maxDelayMs: 400 }

/** Stops after the first round with a failure. */
export const crashTest = async ({ rounds, workers, seed, onProgress }: CrashTestOptions): Promise<CrashTestResult> => {
  const random = seededRandom(seed)
  const folder = temporaryFolder('torture')
  const result: CrashTestResult = {
    rounds: 0,
    sent: 0,
    acknowledged: 0,
    recovered: 0,
    killsDuringStart: 0,
    restarts: [],
    failures: [],
    file: undefined,
  }
  const next = createGenerator(random, `torture-${seed}`)
  // A fixed port: a restarted service must listen where its clients expect it.
  const port = await freePort('127.0.0.1')
  const environment = (path: string) => ({ ...environmentOf(path), WORKERS: String(workers), PORT: String(port) })

  const killDuringStart = async (path: string): Promise<void> => {
    const { child, ended } = launch(environment(path))
    await setTimeout(random.below(startKill.maxDelayMs))
    killAll(child.pid as number)
    await ended
    result.killsDuringStart++
  }

  const start = async (path: string): Promise<RunningService> => {
    while (random.chance(startKill.share)) await killDuringStart(path)
    const begin = performance.now()
    const running = await startProcess(environment(path))
    result.restarts.push(performance.now() - begin)
    return running
  }

  const stop = async (running: RunningService): Promise<void> => {
    killAll(running.child.pid as number)
    await running.end('SIGKILL')
  }

  /** After two killed first starts, a third one must load all demo rows exactly once. */
  const checkFirstStart = async (path: string): Promise<void> => {
    await killDuringStart(path)
    await killDuringStart(path)
    const running = await start(path)
    const connection = new RawConnection(running.address)
    for (const resource of await loadRegistry(folders)) {
      const { length } = await allRows(connection, resource)
      if (length !== resource.demo.length) result.failures.push(`${resource.path} has ${length} demo rows`)
    }
    connection.close()
    result.failures.push(...checkFile(path))
    await stop(running)
  }

  const round = async (path: string, running: RunningService, earlier: Create[]): Promise<RunningService> => {
    const creating = startClients(running.address, clients, next, random)
    await creating.waitForResponses(random.below(killMoment.maxResponses))
    const killsAll = workers === 1 || random.chance(0.5)
    const pid = running.child.pid as number
    if (killsAll) {
      const closed = once(running.child, 'close')
      killAllAfter(pid, random.below(killMoment.maxDelayMs))
      await closed
    } else killWorker(pid, random)
    const sent = await creating.stop()
    const restarted = killsAll ? await start(path) : running
    await waitUntilReady(restarted.address)
    const isAcknowledged = ({ acknowledged }: Create) => acknowledged !== undefined
    const acknowledged = sent.filter(isAcknowledged).length
    await retryUntilAcknowledged(restarted.address, sent)
    result.failures.push(...(await checkRows(restarted.address, path, earlier, sent)), ...checkFile(path))
    const stored = sent.filter(isAcknowledged)
    result.sent += sent.length
    result.acknowledged += acknowledged
    result.recovered += stored.length - acknowledged
    earlier.push(...stored)
    return restarted
  }

  onProgress(0)
  for (let done = 0; done < rounds && result.failures.length === 0; ) {
    const path = join(folder.path, `from-${done}.sqlite`)
    await checkFirstStart(join(folder.path, `first-start-${done}.sqlite`))
    await makeFile(path, 0)
    let running = await start(path)
    const earlier: Create[] = []
    for (let n = 0; n < roundsPerFile && done < rounds && result.failures.length === 0; n++) {
      try {
        running = await round(path, running, earlier)
      } catch (error) {
        result.failures.push(error instanceof WrongResponse ? error.message : String((error as Error).stack))
      }
      result.rounds = ++done
      onProgress(done)
    }
    await stop(running)
    if (result.failures.length > 0) result.file = path
  }
  if (result.file === undefined) folder.remove()
  else folder.keep()
  return result
}
