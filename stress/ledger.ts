/** Records what clients sent and which responses they got; after a crash the service is compared with it. */
import { type Resource, type RowValues, writableFields } from '../engine/descriptor/registry.js'
import { sampleBody } from '../support/samples.js'
import type { Random } from './random.js'
import { creatable, registry } from './service.js'

/** A create, sent once or several times. */
export interface Create {
  readonly resource: Resource
  readonly source: string
  /** The values that the client sent, as the row has them. */
  readonly content: string
  readonly key: string | undefined
  /** The body of the 201; undefined while no client has received one. */
  acknowledged: string | undefined
  /** Whether it was rejected because a value must be unique. */
  rejected: boolean
}

/** The client's values in a row; rows with the same content are indistinguishable to a client. */
export const contentOf = (resource: Resource, row: RowValues): string =>
  JSON.stringify(writableFields(resource).map(({ name, redacted }) => (redacted ? null : (row[name] ?? null))))

/** The share of creates with a key, which can be retried. */
const keyedShare = 0.7

/** The share of rows that take several pages of the file. */
const longShare = 0.1

/** A text field of any length, which is not part of an index. */
const freeTextField = (resource: Resource) =>
  writableFields(resource).find(
    ({ kind, filter, unique, redacted }) => kind === 'text' && !filter && !unique && !redacted,
  )

/** Generates distinct creates of all resources in turn. */
export const createGenerator = (random: Random, keyPrefix: string): (() => Create) => {
  // Far from the numbers in the demo rows, whose values may be unique.
  let n = 1_000_000
  return () => {
    n++
    const resource = creatable[n % creatable.length] as Resource
    const body = sampleBody(registry, resource, n)
    const field = freeTextField(resource)
    if (field && random.chance(longShare)) {
      body[field.name] = `${body[field.name]} ${'and on '.repeat(1 + random.below(4_000))}`
    }
    return {
      resource,
      source: JSON.stringify(body),
      content: contentOf(resource, body),
      key: random.chance(keyedShare) ? `${keyPrefix}-${n}` : undefined,
      acknowledged: undefined,
      rejected: false,
    }
  }
}
