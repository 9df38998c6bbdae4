/** What clients have sent and what they were told: the truth that the service is held against after a crash. */
import { type Resource, type RowValues, writableFields } from '../engine/descriptor/registry.js'
import { sampleBody } from '../support/samples.js'
import type { Random } from './random.js'
import { creatable, registry } from './service.js'

/** A create, sent once or many times. */
export interface Create {
  readonly resource: Resource
  readonly source: string
  /** What its row holds of what was sent. */
  readonly content: string
  readonly key: string | undefined
  /** The body of its 201; undefined while nobody was told of one. */
  acknowledged: string | undefined
  /** Whether it was refused, which only a value that is taken may lead to. */
  refused: boolean
}

/** What a row holds of what clients send: two rows with the same content are the same to a client. */
export const contentOf = (resource: Resource, row: RowValues): string =>
  JSON.stringify(writableFields(resource).map(({ name, redacted }) => (redacted ? null : (row[name] ?? null))))

/** Most creates have a key, so that they can be sent again. */
const keyed = 0.7

/** Some rows are long, so that they take several pages of the file. */
const long = 0.1

/** A text that may be of any length: others are searched for, filtered by, or part of an index. */
const freeText = (resource: Resource) =>
  writableFields(resource).find(
    ({ kind, filter, unique, redacted }) => kind === 'text' && !filter && !unique && !redacted,
  )

/** Makes creates of all resources by turns, no two alike. */
export const newCreates = (random: Random, run: string): (() => Create) => {
  // Far from the numbers of the demo rows, whose values may be unique.
  let n = 1_000_000
  return () => {
    n++
    const resource = creatable[n % creatable.length] as Resource
    const body = sampleBody(registry, resource, n)
    const free = freeText(resource)
    if (free && random.chance(long)) body[free.name] = `${body[free.name]} ${'and on '.repeat(1 + random.below(4_000))}`
    return {
      resource,
      source: JSON.stringify(body),
      content: contentOf(resource, body),
      key: random.chance(keyed) ? `${run}-${n}` : undefined,
      acknowledged: undefined,
      refused: false,
    }
  }
}
