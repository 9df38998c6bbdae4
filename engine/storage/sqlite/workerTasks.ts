/** The worker's side of a WorkerThread: runs each task and replies under its id. */
import { parentPort } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { closeMessage, type Failure, type Reply, type Request } from './worker.js'

const failureOf = ({ name, message, code }: Error & { code?: string }): Failure => ({ name, message, code })

/** Runs tasks until the worker is asked to close; `run` may be asynchronous. */
export const serveTasks = (run: (message: unknown, timeLeftMs: number) => unknown, database: Database): void => {
  const reply = (message: Reply): void => parentPort?.postMessage(message)
  parentPort?.on('message', async (request: Request | typeof closeMessage) => {
    if (request === closeMessage) {
      database.close()
      // Ends the thread, whatever timers it has.
      process.exit()
    }
    const { id, message, timeLeftMs } = request
    try {
      reply({ id, result: await run(message, timeLeftMs) })
    } catch (error) {
      reply({ id, error: failureOf(error as Error) })
    }
  })
}
