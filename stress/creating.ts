/** Clients that create at once, each one thing after another, and keep account of what they are told. */
import { setTimeout } from 'node:timers/promises'
import { RawConnection } from '../support/rawHttp.js'
import type { Create } from './ledger.js'
import type { Random } from './random.js'
import { sendCreate } from './service.js'

/** How often a client sends again what was sent with a key, by itself or by another. */
const again = 0.15

const onlyTaken = (text: string): boolean => {
  const { error } = JSON.parse(text) as { error: { details?: { issues: { type: string }[] } } }
  return error.details?.issues.every(({ type }) => type === 'unique') ?? false
}

/** Sends a create once and notes what came of it; throws where the answer is not one that a sound service gives. */
export const send = async (wire: RawConnection, create: Create): Promise<void> => {
  const { resource, source, key } = create
  const { status, text } = await sendCreate(wire, resource, source, key)
  if (status === 201) {
    if (create.acknowledged !== undefined && create.acknowledged !== text) {
      throw new Wrong(`the key ${key} was answered with two rows:\n${create.acknowledged}\n${text}`)
    }
    create.acknowledged = text
  } else if (status === 422 && onlyTaken(text) && resource.fields.some((field) => field.unique && field.references)) {
    create.refused = true
  } else if (status !== 503) throw new Wrong(`a create of ${resource.path} was answered with ${status}: ${text}`)
}

/** The service did what it must not do. */
export class Wrong extends Error {
  override readonly name = 'Wrong'
}

/** Creates from so many clients until told to stop; a client whose connection breaks stops by itself. */
export const startCreating = (address: string, clients: number, next: () => Create, random: Random) => {
  const sent: Create[] = []
  let going = true
  let answered = 0
  let reached = () => {}
  const one = async (): Promise<void> => {
    const wire = new RawConnection(address)
    while (going) {
      const before = random.chance(again) && sent.length > 0 ? random.pick(sent) : undefined
      const create = before?.key === undefined ? next() : before
      if (create !== before) sent.push(create)
      try {
        await send(wire, create)
        answered++
        reached()
      } catch (error) {
        if (error instanceof Wrong) throw error
        break
      }
    }
    wire.close()
  }
  const ended = Promise.all(Array.from({ length: clients }, one))
  // Whoever stops it is told; until then it may fail without anyone waiting for it.
  ended.catch(() => {})
  const stop = async (): Promise<Create[]> => {
    going = false
    await ended
    return sent
  }
  /** Resolves when so many were answered, or when all clients have stopped. */
  const until = (count: number): Promise<unknown> =>
    Promise.race([
      ended,
      new Promise<void>((resolve) => {
        reached = () => answered >= count && resolve()
        reached()
      }),
    ])
  return { stop, until }
}

/** How long a create is sent again before the service counts as gone, in milliseconds. */
const patience = 60_000

/** Sends every create that has a key and no answer until it has one. */
export const sendUntilAcknowledged = async (address: string, creates: readonly Create[]): Promise<void> => {
  const wire = new RawConnection(address)
  const deadline = performance.now() + patience
  for (const create of creates) {
    while (create.key !== undefined && create.acknowledged === undefined && !create.refused) {
      try {
        await send(wire, create)
      } catch (error) {
        // With its last worker killed the service refuses connections until the next one listens.
        if (error instanceof Wrong || performance.now() > deadline) throw error
        await setTimeout(20)
      }
    }
  }
  wire.close()
}
