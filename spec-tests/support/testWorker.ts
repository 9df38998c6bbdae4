/** A worker for the tests of WorkerThread that echoes, fails, dies or hangs on request. */
import Database from 'better-sqlite3'
import { serveTasks } from '../../engine/storage/sqlite/workerTasks.js'

export type TestTask = { readonly echo: string } | { readonly fail: string } | 'die' | 'throw later' | 'hang'

serveTasks(async (message) => {
  const task = message as TestTask
  if (task === 'die') process.exit(3)
  if (task === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (task === 'throw later') {
    setImmediate(() => {
      throw new Error('thrown outside a task')
    })
    await new Promise(() => {})
  }
  if (typeof task === 'object' && 'fail' in task) throw Object.assign(new TypeError(task.fail), { code: 'E_TEST' })
  return task
}, new Database(':memory:'))
