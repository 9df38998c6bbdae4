/** Waits for what must become true. */
import { setTimeout } from 'node:timers/promises'

const waitMs = 50
const maxWaitMs = 60_000

export const until = async (isMet: () => boolean | Promise<boolean>): Promise<void> => {
  for (let waited = 0; !(await isMet()); waited += waitMs) {
    if (waited > maxWaitMs) throw new Error(`After a minute it is not yet true: ${isMet}`)
    await setTimeout(waitMs)
  }
}
