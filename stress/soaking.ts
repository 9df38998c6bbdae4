/** Keeps a service under full load for minutes, and samples what it holds and how fast it answers. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { temporaryFolder } from '../support/cleanup.js'
import { startProcess } from '../support/process.js'
import { RawConnection } from '../support/rawHttp.js'
import { p99 } from '../support/statistics.js'
import { everyKind } from './everyKind.js'
import { randomOf } from './random.js'
import { lookAt, type Sample } from './samples.js'
import { environmentOf, makeFile, pathOf, registry } from './service.js'

export interface Soak {
  readonly minutes: number
  readonly rows: number
  readonly seed: number
  readonly told: (seconds: number) => void
}

const clients = 8

/** Milliseconds between two samples. */
const interval = 10_000

/** Loads a service on a file; answers with the samples and with how often what went wrong. */
export const soak = async ({ minutes, rows, seed, told }: Soak) => {
  const folder = temporaryFolder('soak')
  const path = join(folder.path, 'soak.sqlite')
  await makeFile(path, rows)
  const running = await startProcess(environmentOf(path))
  const pid = running.child.pid as number
  const random = randomOf(seed)
  const next = everyKind(random)
  const wrong = new Map<string, number>()
  const note = (what: string) => wrong.set(what, (wrong.get(what) ?? 0) + 1)
  let asked = 0
  let going = true

  const client = async (): Promise<void> => {
    const wire = new RawConnection(running.address)
    while (going) {
      const { name, method, bytes, statuses, look } = next()
      try {
        const answer = await wire.send(bytes, method, 30_000)
        asked++
        if (!statuses.includes(answer.status))
          note(`${name} was answered with ${answer.status}: ${answer.text.slice(0, 200)}`)
        look?.(answer)
      } catch (error) {
        note(`${name}: ${(error as Error).message}`)
        if (running.child.exitCode !== null) return
      }
    }
    wire.close()
  }

  const [resource] = registry
  const prober = new Worker(new URL('./prober.js', import.meta.url), {
    workerData: { address: running.address, path: resource && pathOf(resource, resource.demo[0]?.['id']) },
  })
  const probed = (): Promise<number[]> =>
    new Promise((resolve) => {
      prober.once('message', resolve)
      prober.postMessage('tell')
    })

  told(0)
  const loads = Array.from({ length: clients }, client)
  const samples: Sample[] = []
  const start = performance.now()
  let before = 0
  while (performance.now() - start < minutes * 60_000 && running.child.exitCode === null) {
    await setTimeout(interval)
    const seconds = Math.round((performance.now() - start) / 1000)
    samples.push({ seconds, requests: asked - before, ...lookAt(pid, path), p99: p99(await probed()) })
    before = asked
    told(Math.min(seconds, minutes * 60))
  }
  going = false
  await Promise.all(loads)
  await prober.terminate()
  if ((await running.end('SIGTERM')) !== 0) note(`the service ended badly: ${running.output().slice(-500)}`)
  folder.remove()
  return { samples, asked, wrong }
}
