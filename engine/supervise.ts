/** Several processes on one port: starts them, replaces those that die, and drains them all. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A worker that dies sooner than this after its start would only die again: it is replaced after a pause. */
const soon = 1_000

/** A port that nobody has: workers that come to replace others must find the same one again. */
export const freePort = async (host: string): Promise<number> => {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Runs this program in as many workers, on a port; resolves once all listen. */
export const supervise = (count: number, port: number): Promise<void> =>
  new Promise((resolve) => {
    let stopping = false
    let listening = 0
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
      worker.once('exit', () => {
        if (stopping) {
          if (Object.keys(cluster.workers ?? {}).length === 0) process.exit(0)
        } else if (!served && listening === 0) {
          // It has said why.
          process.exit(1)
        } else setTimeout(fork, Date.now() - started < soon ? soon : 0)
      })
    }
    const everyWorker = (tell: (worker: Worker) => void): void => {
      for (const worker of Object.values(cluster.workers ?? {})) if (worker) tell(worker)
    }
    const stop = (): void => {
      // Whoever asks twice does not want to wait.
      if (stopping) {
        everyWorker((worker) => worker.kill('SIGKILL'))
        process.exit(1)
      }
      stopping = true
      everyWorker((worker) => worker.process.kill('SIGTERM'))
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    // Workers accept for themselves: a connection on its way from a supervisor to a worker that dies would hang for good.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    fork()
  })
