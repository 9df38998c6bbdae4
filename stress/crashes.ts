/** Crashes for real, over and over: creates from many clients, a kill in their midst, a restart, and everything held against everything. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { loadRegistry } from '../engine/descriptor/load.js'
import { freePort } from '../engine/supervise.js'
import { folders } from '../product.js'
import { temporaryFolder } from '../support/cleanup.js'
import { launch, type RunningService, startProcess } from '../support/process.js'
import { RawConnection } from '../support/rawHttp.js'
import { faultsAfterCrash } from './crashChecks.js'
import { sendUntilAcknowledged, startCreating, Wrong } from './creating.js'
import { faultsOfFile } from './fileChecks.js'
import { killAll, killAllAfter, killWorker } from './killing.js'
import { type Create, newCreates } from './ledger.js'
import { randomOf } from './random.js'
import { allRows, answers, environmentOf, makeFile } from './service.js'

export interface Crashes {
  readonly rounds: number
  readonly workers: number
  readonly seed: number
  readonly told: (round: number) => void
}

/** What came of the rounds. */
export interface Outcome {
  rounds: number
  sent: number
  acknowledged: number
  /** Creates whose answer was lost and whose row is there all the same. */
  unheard: number
  /** Kills while the service was starting. */
  inStart: number
  /** The milliseconds that each restart took. */
  readonly restarts: number[]
  readonly faults: string[]
  /** Where the file is, if something is wrong with it. */
  file: string | undefined
}

const clients = 6

/** The kill comes after at most so many answers, and within so many milliseconds from then on. */
const kill = { after: 60, within: 30 }

/** A file is taken for so many rounds: checking it grows with its rows. */
const roundsPerFile = 25

/** How often a kill waits until the writing thread has begun to tidy up, in milliseconds after the last create. */
const idle = { share: 0.04, after: 1_000, within: 300 }

/** How often, and how soon after its start, a service that is starting is killed. */
const early = { share: 0.1, within: 400 }

/** Runs the rounds and stops at the first that finds a fault. */
export const crash = async ({ rounds, workers, seed, told }: Crashes): Promise<Outcome> => {
  const random = randomOf(seed)
  const folder = temporaryFolder('torture')
  const outcome: Outcome = {
    rounds: 0,
    sent: 0,
    acknowledged: 0,
    unheard: 0,
    inStart: 0,
    restarts: [],
    faults: [],
    file: undefined,
  }
  const next = newCreates(random, `torture-${seed}`)
  // A port of its own: workers that replace all others are to be found where those were.
  const port = await freePort('127.0.0.1')
  const environment = (path: string) => ({ ...environmentOf(path), WORKERS: String(workers), PORT: String(port) })

  const killInStart = async (path: string): Promise<void> => {
    const { child, ended } = launch(environment(path))
    await setTimeout(random.below(early.within))
    killAll(child.pid as number)
    await ended
    outcome.inStart++
  }

  const start = async (path: string): Promise<RunningService> => {
    while (random.chance(early.share)) await killInStart(path)
    const begun = performance.now()
    const running = await startProcess(environment(path))
    outcome.restarts.push(performance.now() - begun)
    return running
  }

  const end = async (running: RunningService): Promise<void> => {
    killAll(running.child.pid as number)
    await running.end('SIGKILL')
  }

  /** A file whose very first starts are killed has, after one that is not, all its demo rows once. */
  const beBorn = async (path: string): Promise<void> => {
    await killInStart(path)
    await killInStart(path)
    const running = await start(path)
    const wire = new RawConnection(running.address)
    for (const resource of await loadRegistry(folders)) {
      const { length } = await allRows(wire, resource)
      if (length !== resource.demo.length) outcome.faults.push(`${resource.path} has ${length} demo rows`)
    }
    wire.close()
    outcome.faults.push(...faultsOfFile(path))
    await end(running)
  }

  const round = async (path: string, running: RunningService, old: Create[]): Promise<RunningService> => {
    const creating = startCreating(running.address, clients, next, random)
    await creating.until(random.below(kill.after))
    const isIdle = random.chance(idle.share)
    if (isIdle) {
      await creating.stop()
      await setTimeout(idle.after + random.below(idle.within))
    }
    const isWhole = workers === 1 || random.chance(0.5)
    const pid = running.child.pid as number
    if (isWhole) {
      const gone = once(running.child, 'close')
      killAllAfter(pid, random.below(kill.within))
      await gone
    } else killWorker(pid, random)
    const fresh = await creating.stop()
    const restarted = isWhole ? await start(path) : running
    await answers(restarted.address)
    const heard = fresh.filter(({ acknowledged }) => acknowledged !== undefined).length
    await sendUntilAcknowledged(restarted.address, fresh)
    outcome.faults.push(...(await faultsAfterCrash(restarted.address, path, old, fresh)), ...faultsOfFile(path))
    const there = fresh.filter(({ acknowledged }) => acknowledged !== undefined)
    outcome.sent += fresh.length
    outcome.acknowledged += heard
    outcome.unheard += there.length - heard
    old.push(...there)
    return restarted
  }

  told(0)
  for (let done = 0; done < rounds && outcome.faults.length === 0; ) {
    const path = join(folder.path, `from-${done}.sqlite`)
    await beBorn(join(folder.path, `born-${done}.sqlite`))
    await makeFile(path, 0)
    let running = await start(path)
    const old: Create[] = []
    for (let n = 0; n < roundsPerFile && done < rounds && outcome.faults.length === 0; n++) {
      try {
        running = await round(path, running, old)
      } catch (error) {
        outcome.faults.push(error instanceof Wrong ? error.message : String((error as Error).stack))
      }
      outcome.rounds = ++done
      told(done)
    }
    await end(running)
    if (outcome.faults.length > 0) outcome.file = path
  }
  if (outcome.file === undefined) folder.remove()
  else folder.keep()
  return outcome
}
