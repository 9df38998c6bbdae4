/** Compares a custom operation with a batch of the same writes, and lets many clients change one row by it. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess } from '../support/process.js'
import { root } from '../support/root.js'
import { temporaryProject } from '../support/temporaryProject.js'

const API_TOKEN = 'the-write-token-of-the-benchmark'

const rounds = 5
const requestsPerRound = 200
const hotSeconds = 5

export interface HotRates {
  readonly clients: number
  /** Operations per second that were stored. */
  readonly rate: number
  /** Responses other than 200. */
  readonly failures: number
  /** Operations that answered 200, but whose change is not in the row. */
  readonly lost: number
}

export interface OperationRates {
  /** Per second, by one client: an operation that reads two rows and writes them, and a batch of the two writes. */
  readonly operation: number
  readonly batch: number
  readonly hot: readonly HotRates[]
}

export const measureOperations = async (url: string): Promise<OperationRates> => {
  const project = temporaryProject()
  cpSync(join(root, 'bench', 'accounts'), project, { recursive: true })
  const { address, end } = await startProcess({ DATABASE_URL: url, API_TOKEN }, { project })
  const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${address}/api/v1/${path}`, sent)
    return { status: response.status, text: await response.text() }
  }
  const account = async (): Promise<number> => {
    const { status, text } = await post('accounts', { balance: 0 })
    if (status !== 201) throw new Error(`a create responded with ${status}: ${text.slice(0, 200)}`)
    return JSON.parse(text).id
  }
  const balanceOf = async (id: number): Promise<number> =>
    ((await (await fetch(`${address}/api/v1/accounts/${id}`)).json()) as { balance: number }).balance
  const [from, to] = [await account(), await account()]
  let balance = 0
  const transfer = () => post('transfers', { from, to })
  const write = (id: number, value: number) => ({
    method: 'PATCH',
    path: `/v1/accounts/${id}`,
    body: { balance: value },
  })
  const batch = () => post('batch', { operations: [write(from, -++balance), write(to, balance)] })
  const rate = async (work: () => Promise<{ status: number; text: string }>): Promise<number> => {
    const started = performance.now()
    for (let n = 0; n < requestsPerRound; n++) {
      const { status, text } = await work()
      if (status !== 200) throw new Error(`it responded with ${status}: ${text.slice(0, 200)}`)
    }
    return (1_000 * requestsPerRound) / (performance.now() - started)
  }
  // In turn, so that what else the machine does affects both alike.
  let [operation, batches] = [0, 0]
  for (let n = 0; n < rounds; n++) {
    operation = Math.max(operation, await rate(transfer))
    balance = await balanceOf(to)
    batches = Math.max(batches, await rate(batch))
  }

  const hot: HotRates[] = []
  for (const clients of [16, 64]) {
    const row = await account()
    const others = await Promise.all(Array.from({ length: clients }, account))
    const [started, until] = [performance.now(), performance.now() + hotSeconds * 1_000]
    let [stored, failures] = [0, 0]
    const client = async (other: number): Promise<void> => {
      while (performance.now() < until) {
        const { status } = await post('transfers', { from: other, to: row })
        if (status === 200) stored++
        else failures++
      }
    }
    await Promise.all(others.map(client))
    const took = performance.now() - started
    hot.push({ clients, rate: (1_000 * stored) / took, failures, lost: stored - (await balanceOf(row)) })
  }
  await end('SIGTERM')
  return { operation, batch: batches, hot }
}
