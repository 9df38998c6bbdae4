/** What the error messages promise: whether something was stored, and whether a retry helps. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpError, internalError, outcomeUnknown, unavailable } from '../../engine/contract/errors.js'

const test = suite('errors')

const messageOf = ({ body }: HttpError) => (body as { error: { message: string } }).error.message

test('unavailable means that nothing was stored; only a lost commit is unknown', () => {
  for (const [error, code, retryAfter] of [
    [unavailable(), 'unavailable', '1'],
    [outcomeUnknown(), 'outcome_unknown', undefined],
  ] as const) {
    assert.is(error.status, 503)
    assert.is((error.body as { error: { code: string } }).error.code, code)
    assert.is(error.headers['Retry-After'], retryAfter)
  }
  assert.match(messageOf(unavailable()), /Nothing was stored; try again/)
  assert.match(messageOf(outcomeUnknown()), /may or may not have been stored. Retry with the same Idempotency-Key/)
})

test('an internal error does not suggest a retry', () => {
  assert.not.match(messageOf(internalError()), /again|retry/i)
})

test.run()
