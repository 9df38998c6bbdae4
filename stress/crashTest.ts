/** Kills the service while clients create, update and delete rows, restarts it, and checks that no write is lost; repeatedly. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../engine/process/supervise.js'
import { runSql } from '../support/postgresServer.js'
import { launch, type RunningService, startProcess, untilResponding } from '../support/process.js'
import { type Random, seededRandom } from '../support/random.js'
import { RawConnection } from '../support/rawHttp.js'
import { checkRows } from './crashChecks.js'
import { checkFile } from './fileChecks.js'
import { Ledger, WrongResponse } from './ledger.js'
import { allRows, fillDatabase, firstRegistry, project, serviceEnvironment } from './service.js'
import { repeatAll, startClients } from './writeClients.js'

interface CrashTestOptions {
  readonly rounds: number
  readonly workers: number
  readonly seed: number
  /** Makes the URL of an empty database. */
  readonly newDatabase: () => Promise<string>
  readonly onProgress: (rounds: number) => void
}

const clients = 6

/** Limits of the random moment of a kill: responses before it, and milliseconds after those. */
const killMoment = { maxResponses: 60, maxDelayMs: 30 }

/** Checks take longer the more rows a database has, so that each one is used for this many rounds only. */
const roundsPerDatabase = 25

/** Some starts are killed. */
const startKill = { share: 0.1, maxDelayMs: 400 }

const listChildren = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** Stops the service first, so that it cannot replace its workers. */
const killAll = (pid: number): void => {
  kill(pid, 'SIGSTOP')
  for (const child of listChildren(pid)) kill(child, 'SIGKILL')
  kill(pid, 'SIGKILL')
}

/** Kills a service and its workers after a delay, from a separate process, so that the clients in this one keep sending. */
const killAllAfter = (pid: number, milliseconds: number): void => {
  const pids = [pid, ...listChildren(pid)].join(' ')
  spawn('sh', ['-c', `sleep ${milliseconds / 1000}; kill -9 ${pids}`], { stdio: 'ignore' })
}

const killWorker = (pid: number, random: Random): void => {
  const workers = listChildren(pid)
  if (workers.length > 0) kill(random.pick(workers), 'SIGKILL')
}

/** Resolves when PostgreSQL has finished what the killed service had sent; until then, outcomes are not final. */
const waitForServer = async (url: string): Promise<void> => {
  if (url.startsWith('sqlite:')) return
  const busy = `select 1 from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
    and state <> 'idle' and pid <> pg_backend_pid()`
  while ((await runSql(url, busy)).length > 0) await setTimeout(5)
}

const checkDatabase = (url: string): string[] =>
  url.startsWith('sqlite:') ? checkFile(url.slice('sqlite:'.length)) : []

/** Stops after the first round with a failure. */
export const crashTest = async ({ rounds, workers, seed, newDatabase, onProgress }: CrashTestOptions) => {
  const random = seededRandom(seed)
  const result = {
    rounds: 0,
    sent: 0,
    acknowledged: 0,
    /** Writes that were repeated after the crash because they had no response. */
    repeated: 0,
    killsDuringStart: 0,
    /** The duration of each restart in milliseconds. */
    restarts: [] as number[],
    failures: [] as string[],
    /** The URL of the database, if a check failed. */
    database: undefined as string | undefined,
  }
  // A fixed port: a restarted service must listen where its clients expect it.
  const port = await freePort('127.0.0.1')
  const environment = (url: string) => ({ ...serviceEnvironment(url), WORKERS: String(workers), PORT: String(port) })

  const killDuringStart = async (url: string): Promise<void> => {
    const { child, ended } = launch(environment(url), { project })
    await setTimeout(random.below(startKill.maxDelayMs))
    killAll(child.pid as number)
    await ended
    result.killsDuringStart++
  }

  const start = async (url: string): Promise<RunningService> => {
    while (random.chance(startKill.share)) await killDuringStart(url)
    const begin = performance.now()
    const running = await startProcess(environment(url), { project })
    result.restarts.push(performance.now() - begin)
    return running
  }

  const stop = async (running: RunningService): Promise<void> => {
    killAll(running.child.pid as number)
    await running.end('SIGKILL')
  }

  /** After two killed first starts, a third one must load all demo rows exactly once. */
  const checkFirstStart = async (url: string): Promise<void> => {
    await killDuringStart(url)
    await killDuringStart(url)
    const running = await start(url)
    const connection = new RawConnection(running.address)
    for (const resource of firstRegistry) {
      const { length } = await allRows(connection, resource)
      if (length !== resource.demo.length) result.failures.push(`${resource.path} has ${length} demo rows`)
    }
    connection.close()
    result.failures.push(...checkDatabase(url))
    await stop(running)
  }

  const round = async (url: string, running: RunningService, ledger: Ledger): Promise<RunningService> => {
    ledger.sent = []
    const writing = startClients(running.address, clients, ledger, random)
    await writing.waitForResponses(random.below(killMoment.maxResponses))
    const killsAll = workers === 1 || random.chance(0.5)
    const pid = running.child.pid as number
    if (killsAll) {
      const closed = once(running.child, 'close')
      killAllAfter(pid, random.below(killMoment.maxDelayMs))
      await closed
    } else killWorker(pid, random)
    await writing.stop()
    const restarted = killsAll ? await start(url) : running
    await untilResponding(restarted.address, restarted.child)
    await waitForServer(url)
    const { address } = restarted
    const { sent } = ledger
    result.sent += sent.length
    result.acknowledged += sent.filter(({ response }) => response !== undefined).length
    result.failures.push(...(await checkRows(address, ledger, false)))
    result.repeated += sent.filter((write) => write.row.unanswered === write).length
    await repeatAll(address, ledger)
    result.failures.push(...(await checkRows(address, ledger, true)), ...checkDatabase(url))
    return restarted
  }

  onProgress(0)
  for (let done = 0; done < rounds && result.failures.length === 0; ) {
    await checkFirstStart(await newDatabase())
    const url = await newDatabase()
    await fillDatabase(url, 0)
    let running = await start(url)
    const ledger = new Ledger(random, `torture-${seed}`)
    for (let n = 0; n < roundsPerDatabase && done < rounds && result.failures.length === 0; n++) {
      try {
        running = await round(url, running, ledger)
      } catch (error) {
        result.failures.push(error instanceof WrongResponse ? error.message : String((error as Error).stack))
      }
      result.rounds = ++done
      onProgress(done)
    }
    await stop(running)
    if (result.failures.length > 0) result.database = url
  }
  return result
}
