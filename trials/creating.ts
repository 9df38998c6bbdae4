/** Clients that create at once, each one thing after another, and keep account of what they are told. */
import { Wire } from '../spec-tests/support/wire.js'
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
export const send = async (wire: Wire, create: Create): Promise<void> => {
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
  const one = async (): Promise<void> => {
    const wire = new Wire(address)
    while (going) {
      const before = random.chance(again) && sent.length > 0 ? random.pick(sent) : undefined
      const create = before?.key === undefined ? next() : before
      if (create !== before) sent.push(create)
      try {
        await send(wire, create)
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
  return { stop }
}

/** Sends every create that has a key and no answer until it has one. */
export const sendUntilAcknowledged = async (address: string, creates: readonly Create[]): Promise<void> => {
  const wire = new Wire(address)
  for (const create of creates) {
    while (create.key !== undefined && create.acknowledged === undefined && !create.refused) await send(wire, create)
  }
  wire.close()
}
