/** A worker for the tests of worker threads that echoes, fails, dies, hangs or replies twice on request. */
import { parentPort } from 'node:worker_threads'
import { serveTasks } from '../../engine/storage/sqlite/thread.js'

export type TestTask =
  | { readonly echo: string }
  | { readonly fail: string }
  | { readonly strayReply: number }
  | 'die'
  | 'throw later'
  | 'hang'

serveTasks(async (task: TestTask) => {
  if (task === 'die') process.exit(3)
  if (task === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (task === 'throw later') {
    setImmediate(() => {
      throw new Error('thrown outside a task')
    })
    await new Promise(() => {})
  }
  if (typeof task === 'object' && 'fail' in task) throw Object.assign(new TypeError(task.fail), { code: 'E_TEST' })
  if (typeof task === 'object' && 'strayReply' in task) {
    parentPort?.postMessage({ id: task.strayReply, result: 'of another task' })
  }
  return task
})
