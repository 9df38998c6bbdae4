/** Concurrent clients that create, update and delete rows, and record every response in the ledger. */
import { setTimeout } from 'node:timers/promises'
import type { Random } from '../support/random.js'
import { type Header, RawConnection, requestBytes } from '../support/rawHttp.js'
import { type Ledger, type Write, WrongResponse } from './ledger.js'
import { rowPath, writeHeaders } from './service.js'

/** The share of requests that repeat an earlier write with its key. */
const repeatShare = 0.15

/** Sends a write and records its response; throws a WrongResponse if that is not allowed. */
export const send = async (connection: RawConnection, ledger: Ledger, write: Write): Promise<void> => {
  const { row, method, body, key } = write
  const headers: readonly Header[] = key === undefined ? writeHeaders : [...writeHeaders, ['idempotency-key', key]]
  const path = rowPath(row.resource, method === 'POST' ? undefined : row.id)
  const bytes = requestBytes(method, path, headers, body === undefined ? undefined : Buffer.from(body))
  ledger.record(write, await connection.send(bytes, method))
}

/** Starts clients that write until they are stopped; a client whose connection breaks stops too. */
export const startClients = (address: string, clients: number, ledger: Ledger, random: Random) => {
  let isRunning = true
  let responses = 0
  let onResponse = () => {}
  const nextWrite = (): Write => {
    const earlier = random.chance(repeatShare) && ledger.sent.length > 0 ? random.pick(ledger.sent) : undefined
    const isRefused = earlier?.response === undefined && earlier?.row.unanswered !== earlier
    return earlier?.key === undefined || isRefused ? ledger.next() : earlier
  }
  const client = async (): Promise<void> => {
    const connection = new RawConnection(address)
    while (isRunning) {
      try {
        await send(connection, ledger, nextWrite())
        responses++
        onResponse()
      } catch (error) {
        if (error instanceof WrongResponse) throw error
        break
      }
    }
    connection.close()
  }
  const ended = Promise.all(Array.from({ length: clients }, client))
  // stop() reports a failure; until then it must not count as an unhandled rejection.
  ended.catch(() => {})
  const stop = async (): Promise<void> => {
    isRunning = false
    await ended
  }
  /** Resolves after this many responses, or when all clients have stopped. */
  const waitForResponses = (count: number): Promise<unknown> =>
    Promise.race([
      ended,
      new Promise<void>((resolve) => {
        onResponse = () => responses >= count && resolve()
        onResponse()
      }),
    ])
  return { stop, waitForResponses }
}

/** How long writes are retried, in milliseconds. */
const retryMs = 60_000

/** Repeats every write with a key until it is acknowledged: one without a response succeeds, the others respond as before. */
export const repeatAll = async (address: string, ledger: Ledger): Promise<void> => {
  const connection = new RawConnection(address)
  const deadline = performance.now() + retryMs
  for (const write of ledger.sent.filter(({ key }) => key !== undefined)) {
    for (let isFirst = write.response !== undefined; isFirst || write.row.unanswered === write; isFirst = false) {
      try {
        await send(connection, ledger, write)
      } catch (error) {
        // After its last worker was killed, the service refuses connections until the next one listens.
        if (error instanceof WrongResponse || performance.now() > deadline) throw error
        await setTimeout(20)
      }
    }
  }
  connection.close()
}
