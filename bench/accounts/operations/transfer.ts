import { ApiError, defineOperation, z } from 'resource-registry-engine'
import accounts from '../resources/accounts.ts'

export default defineOperation({
  method: 'POST',
  path: '/v1/transfers',
  about: 'Moves one unit to another account.',
  body: z.object({ from: z.int(), to: z.int() }),
  async handle({ body, of }) {
    const from = await of(accounts).get(body.from)
    const to = await of(accounts).get(body.to)
    if (!from || !to) throw new ApiError(404, 'not_found', 'There is no such account.')
    await of(accounts).update(from.id, { balance: from.balance - 1 })
    await of(accounts).update(to.id, { balance: to.balance + 1 })
    return true
  },
})
