/** Several processes on one port: starts them, replaces those that die, and drains them all. */
import cluster, { type Worker } from 'node:cluster'

/** A worker that dies sooner than this after its start would only die again: it is replaced after a pause. */
const soon = 1_000

/** Runs this program in as many workers; resolves with the port once all listen. */
export const supervise = (count: number): Promise<number> =>
  new Promise((resolve) => {
    let stopping = false
    let listening = 0
    const fork = (): void => {
      const started = Date.now()
      const worker = cluster.fork()
      let served = false
      worker.once('listening', ({ port }) => {
        served = true
        listening++
        // The first shows whether one can start at all; the others follow.
        if (listening === 1) for (let n = 1; n < count; n++) fork()
        if (listening === count) resolve(port)
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
