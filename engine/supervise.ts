/** Several processes on one port: starts them, replaces those that die, and drains them all. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { notices } from './notices.js'

/** A worker that dies sooner than this after its start would only die again: it is replaced after a pause. */
const soon = 1_000

/** A port that nobody listens on; workers that replace others must find the same one again. */
export const freePort = async (host: string): Promise<number> => {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export interface Supervised {
  /** The module that a worker runs. */
  readonly module: string
  readonly count: number
  readonly port: number
  /** How long the workers may take to stop, in milliseconds; those that take longer are killed. */
  readonly drainMs: number
}

const causeOf = (code: number | null, signal: string | null): string =>
  signal ? `was ended by ${signal}` : `ended with code ${code}`

/** Runs a module in as many workers, on a port; resolves once all listen. */
export const supervise = ({ module, count, port, drainMs }: Supervised): Promise<void> =>
  new Promise((resolve) => {
    let stopping = false
    let listening = 0
    let exitCode = 0
    const everyWorker = (act: (worker: Worker) => void): void => {
      for (const worker of Object.values(cluster.workers ?? {})) if (worker) act(worker)
    }
    const killAll = (): void => {
      everyWorker((worker) => worker.process.kill('SIGKILL'))
      process.exit(1)
    }
    const fork = (): void => {
      const started = Date.now()
      const worker = cluster.fork({ PORT: String(port) })
      let served = false
      worker.once('listening', () => {
        served = true
        listening++
        // The first shows whether one can start at all; the others follow.
        if (listening === 1) for (let n = 1; n < count; n++) fork()
        if (listening === count) resolve()
      })
      worker.once('exit', (code: number | null, signal: string | null) => {
        const { pid } = worker.process
        if (stopping) {
          if (code !== 0) exitCode = 1
          if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(exitCode)
        } else if (!served && listening === 0) {
          // It has said why.
          process.exit(1)
        } else {
          const pause = Date.now() - started < soon ? soon : 0
          const message = `Worker ${pid} ${causeOf(code, signal)}; another one is started${pause ? ` in ${pause} ms` : ''}.`
          notices.warn(message, { worker: pid, code, signal })
          setTimeout(() => !stopping && fork(), pause)
        }
      })
    }
    const stop = (): void => {
      // Whoever asks twice does not want to wait.
      if (stopping) killAll()
      stopping = true
      if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(0)
      everyWorker((worker) => worker.process.kill('SIGTERM'))
      setTimeout(() => {
        notices.error(`Workers did not stop within ${drainMs} ms (DRAIN_TIMEOUT_MS) and are killed.`)
        killAll()
      }, drainMs)
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    // Workers accept for themselves: a connection on its way from a supervisor to a worker that dies would hang for good.
    // Set first: setupPrimary() fixes it.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    // The module itself and not what this process was started by, which may lead to a newer build by now.
    cluster.setupPrimary({ exec: module, args: [] })
    fork()
  })
