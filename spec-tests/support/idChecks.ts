/** How the API responds to ids that no row has, and to malformed ones. */
import * as assert from 'uvu/assert'
import type { TestClient } from './service.js'

export const idChecks = (get: TestClient['get']) => {
  const expectUnknown = async (path: string, id: string): Promise<void> => {
    const { status, body } = await get(`${path}/${id}`)
    assert.is(status, 404, id)
    assert.is(body.error.code, 'not_found')
  }

  const expectMalformed = async (path: string, id: string): Promise<void> => {
    const { status, body } = await get(`${path}/${id}`)
    assert.is(status, 422, id)
    assert.equal(body.detail[0].loc, ['path', 'item_id'])
    assert.is(body.detail[0].input, id)
  }
  return { expectUnknown, expectMalformed }
}
