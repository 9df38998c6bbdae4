/** Runs several worker processes on one port: starts them, replaces those that die, and drains them. */
import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { notices } from './log.js'
import type { Settings } from './settings.js'
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

const workers = (): Worker[] => Object.values(cluster.workers ?? {}) as Worker[]

const killAll = (): void => {
  for (const worker of workers()) worker.process.kill('SIGKILL')
  process.exit(1)
}

export const supervise = async (
  module: string,
  args: string[],
  settings: Settings,
  onRestart: () => void,
): Promise<string> => {
  const { HOST, WORKERS } = settings
  const port = settings.PORT === 0 ? await freePort(HOST) : settings.PORT
  // Workers accept connections themselves: with round robin, a connection that is being passed to a dying worker hangs.
  // Must be set before setupPrimary().
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // Not process.argv[1]: dist/server.js may start a newer build by now.
  cluster.setupPrimary({ exec: module, args })

  // All workers know the sessions of each.
  const sessionSecret = settings.SESSION_SECRET ?? randomBytes(32).toString('base64url')
  let isStopping = false
  let listening = 0
  let exitCode = 0
  const fork = (): void => {
    const started = Date.now()
    const worker = cluster.fork({ PORT: String(port), SESSION_SECRET: sessionSecret })
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (isStopping) {
        // One that has just been started may not handle the signal yet.
        if (code !== 0 && signal !== 'SIGTERM') exitCode = 1
        if (workers().length > 0) return
        if (exitCode === 0) notices.info('Stopped; every request has its response.')
        process.exit(exitCode)
      }
      // The first worker cannot start and has printed the reason.
      if (listening === 0) process.exit(1)
      onRestart()
      const { pid } = worker.process
      const cause = signal ? `was killed by ${signal}` : `exited with code ${code}`
      const pause = Date.now() - started < restartPauseMs ? restartPauseMs : 0
      const when = pause ? ` in ${pause} ms` : ''
      notices.warn({ worker: pid, code, signal }, `Worker ${pid} ${cause}; starting a new one${when}.`)
      setTimeout(() => !isStopping && fork(), pause)
    })
  }
  const drain = (): void => {
    isStopping = true
    if (workers().length === 0) process.exit(0)
    for (const worker of workers()) worker.process.kill('SIGTERM')
  }
  onStopSignal(settings, drain, killAll)
  await new Promise<void>((resolve) => {
    cluster.on('listening', ({ process: { pid } }) => {
      // A worker that is being stopped may have begun to listen just before: no other follows it.
      if (isStopping) return
      listening++
      notices.info({ worker: pid }, `Worker ${pid} is ready.`)
      // The first worker shows whether the service can start; the others follow.
      if (listening === 1) for (let n = 1; n < WORKERS; n++) fork()
      if (listening === WORKERS) resolve()
    })
    fork()
  })
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`
}
