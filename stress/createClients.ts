/** Concurrent clients that create rows and record every response in the ledger. */
import { setTimeout } from 'node:timers/promises'
import { RawConnection } from '../support/rawHttp.js'
import type { Create } from './ledger.js'
import type { Random } from './random.js'
import { sendCreate } from './service.js'

/** The share of requests that repeat an earlier create with its key. */
const repeatShare = 0.15

const isOnlyUnique = (text: string): boolean => {
  const { error } = JSON.parse(text) as { error: { details?: { issues: { type: string }[] } } }
  return error.details?.issues.every(({ type }) => type === 'unique') ?? false
}

/** A response that the service must not send. */
export class WrongResponse extends Error {
  override readonly name = 'WrongResponse'
}

/** Sends a create and records its outcome; throws a WrongResponse if the response is not allowed. */
export const send = async (connection: RawConnection, create: Create): Promise<void> => {
  const { resource, source, key } = create
  const { status, text } = await sendCreate(connection, resource, source, key)
  if (status === 201) {
    if (create.acknowledged !== undefined && create.acknowledged !== text) {
      throw new WrongResponse(`the key ${key} returned two rows:\n${create.acknowledged}\n${text}`)
    }
    create.acknowledged = text
  } else if (
    status === 422 &&
    isOnlyUnique(text) &&
    resource.fields.some((field) => field.unique && field.references)
  ) {
    create.rejected = true
  } else if (status !== 503) throw new WrongResponse(`a create of ${resource.path} returned ${status}: ${text}`)
}

/** Starts clients that create rows until they are stopped; a client whose connection breaks stops by itself. */
export const startClients = (address: string, clients: number, next: () => Create, random: Random) => {
  const sent: Create[] = []
  let isRunning = true
  let responses = 0
  let onResponse = () => {}
  const client = async (): Promise<void> => {
    const connection = new RawConnection(address)
    while (isRunning) {
      const earlier = random.chance(repeatShare) && sent.length > 0 ? random.pick(sent) : undefined
      const create = earlier?.key === undefined ? next() : earlier
      if (create !== earlier) sent.push(create)
      try {
        await send(connection, create)
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
  const stop = async (): Promise<Create[]> => {
    isRunning = false
    await ended
    return sent
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

/** How long creates are retried, in milliseconds. */
const retryMs = 60_000

/** Retries every create that has a key and no response. */
export const retryUntilAcknowledged = async (address: string, creates: readonly Create[]): Promise<void> => {
  const connection = new RawConnection(address)
  const deadline = performance.now() + retryMs
  for (const create of creates) {
    while (create.key !== undefined && create.acknowledged === undefined && !create.rejected) {
      try {
        await send(connection, create)
      } catch (error) {
        // After its last worker was killed, the service refuses connections until the next one listens.
        if (error instanceof WrongResponse || performance.now() > deadline) throw error
        await setTimeout(20)
      }
    }
  }
  connection.close()
}
