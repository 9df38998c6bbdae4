/** Keeps a service under full load for minutes and samples its resources and latency. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { temporaryFolder } from '../support/cleanup.js'
import { startProcess } from '../support/process.js'
import { RawConnection } from '../support/rawHttp.js'
import { p99 } from '../support/statistics.js'
import { type Sample, sampleProcess } from './processSamples.js'
import { seededRandom } from './random.js'
import { requestMix } from './requestMix.js'
import { environmentOf, makeFile, pathOf, registry } from './service.js'

export interface SoakOptions {
  readonly minutes: number
  readonly rows: number
  readonly seed: number
  readonly onProgress: (seconds: number) => void
}

const clients = 8

const sampleIntervalMs = 10_000

/** Resolves with the samples, the number of requests and how often each error occurred. */
export const soakTest = async ({ minutes, rows, seed, onProgress }: SoakOptions) => {
  const folder = temporaryFolder('soak')
  const path = join(folder.path, 'soak.sqlite')
  await makeFile(path, rows)
  const running = await startProcess(environmentOf(path))
  const pid = running.child.pid as number
  const next = requestMix(seededRandom(seed))
  const errors = new Map<string, number>()
  const countError = (message: string) => errors.set(message, (errors.get(message) ?? 0) + 1)
  let requests = 0
  let isRunning = true

  const client = async (): Promise<void> => {
    const connection = new RawConnection(running.address)
    while (isRunning) {
      const { name, method, bytes, statuses, onResponse } = next()
      try {
        const response = await connection.send(bytes, method, 30_000)
        requests++
        const { status, text } = response
        if (!statuses.includes(status)) countError(`${name}: unexpected status ${status}: ${text.slice(0, 200)}`)
        onResponse?.(response)
      } catch (error) {
        countError(`${name}: ${(error as Error).message}`)
        if (running.child.exitCode !== null) return
      }
    }
    connection.close()
  }

  const [resource] = registry
  const probe = new Worker(new URL('./latencyProbe.js', import.meta.url), {
    workerData: { address: running.address, path: resource && pathOf(resource, resource.demo[0]?.['id']) },
  })
  const probeDurations = (): Promise<number[]> =>
    new Promise((resolve) => {
      probe.once('message', resolve)
      probe.postMessage('report')
    })

  onProgress(0)
  const loads = Array.from({ length: clients }, client)
  const samples: Sample[] = []
  const start = performance.now()
  let sampledRequests = 0
  while (performance.now() - start < minutes * 60_000 && running.child.exitCode === null) {
    await setTimeout(sampleIntervalMs)
    const seconds = Math.round((performance.now() - start) / 1000)
    samples.push({
      seconds,
      requests: requests - sampledRequests,
      ...sampleProcess(pid, path),
      p99: p99(await probeDurations()),
    })
    sampledRequests = requests
    onProgress(Math.min(seconds, minutes * 60))
  }
  isRunning = false
  await Promise.all(loads)
  await probe.terminate()
  if ((await running.end('SIGTERM')) !== 0)
    countError(`the service did not stop cleanly: ${running.output().slice(-500)}`)
  folder.remove()
  return { samples, requests, errors }
}
