/** The write that stores a new row. */
import type { RowValues } from '../../engine/descriptor/registry.js'
import type { IdempotencyKey, Write } from '../../engine/storage/writeData.js'

export const insertion = (values: RowValues, idempotencyKey?: IdempotencyKey): Write => ({
  kind: 'insert',
  values,
  idempotencyKey,
})
