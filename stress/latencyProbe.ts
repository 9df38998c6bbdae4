/** A worker thread that measures the latency of one request at a time, independent of the event loop that creates the load. */
import { setTimeout } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { RawConnection } from '../support/rawHttp.js'
import { read } from './service.js'

const { address, path } = workerData as { address: string; path: string }
const connection = new RawConnection(address)
let durations: number[] = []
parentPort?.on('message', () => {
  parentPort?.postMessage(durations)
  durations = []
})
for (;;) {
  const start = performance.now()
  await read(connection, path)
  durations.push(performance.now() - start)
  await setTimeout(10)
}
