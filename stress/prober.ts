/** Runs in a thread: asks one plain thing at a time and tells how long each took, whatever the load's own event loop is busy with. */
import { setTimeout } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { RawConnection } from '../support/rawHttp.js'
import { read } from './service.js'

const { address, path } = workerData as { address: string; path: string }
const wire = new RawConnection(address)
let took: number[] = []
parentPort?.on('message', () => {
  parentPort?.postMessage(took)
  took = []
})
for (;;) {
  const start = performance.now()
  await read(wire, path)
  took.push(performance.now() - start)
  await setTimeout(10)
}
