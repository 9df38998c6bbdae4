/** Runs several worker processes on one port: starts them, replaces those that die, and drains them. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { notices } from './notices.js'
import { onStopSignal } from './stopSignals.js'

/** A worker that dies within this time after its start is replaced only after the same pause, to avoid a crash loop. */
const restartPauseMs = 1_000

/** Finds a free port. With PORT=0 the workers need one before they start, because replacements must use the same port. */
export const freePort = async (host: string): Promise<number> => {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export interface SuperviseOptions {
  /** The module that each worker runs. */
  readonly module: string
  readonly count: number
  readonly port: number
  /** Workers that take longer to stop, in milliseconds, are killed. */
  readonly drainMs: number
}

const causeOf = (code: number | null, signal: string | null): string =>
  signal ? `was killed by ${signal}` : `exited with code ${code}`

/** Resolves once all workers listen. */
export const supervise = ({ module, count, port, drainMs }: SuperviseOptions): Promise<void> =>
  new Promise((resolve) => {
    let stopping = false
    let listening = 0
    let exitCode = 0
    const forEachWorker = (action: (worker: Worker) => void): void => {
      for (const worker of Object.values(cluster.workers ?? {})) if (worker) action(worker)
    }
    const killAll = (): void => {
      forEachWorker((worker) => worker.process.kill('SIGKILL'))
      process.exit(1)
    }
    const fork = (): void => {
      const started = Date.now()
      const worker = cluster.fork({ PORT: String(port) })
      let hasListened = false
      worker.once('listening', () => {
        hasListened = true
        listening++
        // The first worker shows whether the service can start; the others follow.
        if (listening === 1) for (let n = 1; n < count; n++) fork()
        if (listening === count) resolve()
      })
      worker.once('exit', (code: number | null, signal: string | null) => {
        const { pid } = worker.process
        if (stopping) {
          if (code !== 0) exitCode = 1
          if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(exitCode)
        } else if (!hasListened && listening === 0) {
          // The worker has printed the reason.
          process.exit(1)
        } else {
          const pause = Date.now() - started < restartPauseMs ? restartPauseMs : 0
          const message = `Worker ${pid} ${causeOf(code, signal)}; starting a new one${pause ? ` in ${pause} ms` : ''}.`
          notices.warn(message, { worker: pid, code, signal })
          setTimeout(() => !stopping && fork(), pause)
        }
      })
    }
    const stop = (): void => {
      stopping = true
      if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(0)
      forEachWorker((worker) => worker.process.kill('SIGTERM'))
      setTimeout(() => {
        notices.error(`Workers did not stop within ${drainMs} ms (DRAIN_TIMEOUT_MS); killing them.`)
        killAll()
      }, drainMs)
    }
    onStopSignal(['SIGTERM', 'SIGINT'], stop, killAll)
    // Workers accept connections themselves: with round robin, a connection that is being passed to a dying worker hangs.
    // Must be set before setupPrimary().
    cluster.schedulingPolicy = cluster.SCHED_NONE
    // Not process.argv[1]: dist/server.js may start a newer build by now.
    cluster.setupPrimary({ exec: module, args: [] })
    fork()
  })
