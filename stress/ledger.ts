/** Records what clients sent and which responses they got; after a crash the service is compared with it. */
import { isText } from '../engine/descriptor/kinds/index.js'
import {
  type Field,
  type Resource,
  type RowValues,
  updatableFields,
  writableFields,
} from '../engine/descriptor/registry.js'
import type { Random } from '../support/random.js'
import type { RawResponse } from '../support/rawHttp.js'
import { sampleBody } from '../support/samples.js'
import { creatable, registry, successes } from './service.js'

/** A row as its clients know it. */
export interface KnownRow {
  readonly resource: Resource
  /** Undefined until a create was acknowledged, or its row was found. */
  id: number | undefined
  /** Its JSON as it was last acknowledged; undefined if it does not exist. */
  text: string | undefined
  /** The write without a response: it was carried out, or it was not. No other write is sent until that is known. */
  unanswered: Write | undefined
}

/** A write of one row, sent once or several times. */
export interface Write {
  readonly row: KnownRow
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly body: string | undefined
  readonly key: string | undefined
  /** The client's values in the row afterwards; undefined if it is deleted. */
  readonly content: string | undefined
  /** The body of the response; undefined while no client has received one. */
  response: string | undefined
}

/** A response that the service must not send. */
export class WrongResponse extends Error {
  override readonly name = 'WrongResponse'
}

/** The client's values in a row; rows with the same content are indistinguishable to a client. */
export const rowContent = (resource: Resource, row: RowValues): string =>
  JSON.stringify(writableFields(resource).map(({ name, redacted }) => (redacted ? null : (row[name] ?? null))))

/** The shares of creates, of updates, and of writes with a key, which can be retried. */
const createShare = 0.5
const updateShare = 0.7
const keyedShare = 0.7

/** The share of bodies that take several pages of the file. */
const longShare = 0.1

/** A text of any length, which is not part of an index. */
const isFreeText = ({ kind, filter, sort, unique, redacted, maxLength, oneOf }: Field): boolean =>
  isText({ kind }) && !filter && !sort && !unique && !redacted && maxLength === undefined && !oneOf

const hasUniqueReference = ({ fields }: Resource): boolean => fields.some((field) => field.unique && field.references)

const isOnlyUnique = (text: string): boolean => {
  const { error } = JSON.parse(text) as { error: { details?: { issues: { type: string }[] } } }
  return error.details?.issues.every(({ type }) => type === 'unique') ?? false
}

export class Ledger {
  readonly rows: KnownRow[] = []
  /** The writes since it was last emptied. */
  sent: Write[] = []
  /** The rows that can be changed or deleted, and that no client is writing. */
  readonly #idle: KnownRow[] = []
  readonly #random: Random
  readonly #keyPrefix: string
  // Far from the numbers in the demo rows, whose values may be unique.
  #n = 1_000_000

  constructor(random: Random, keyPrefix: string) {
    this.#random = random
    this.#keyPrefix = keyPrefix
  }

  /** A create of the next resource, or a change or delete of a row that no client is writing. */
  next(): Write {
    const n = ++this.#n
    const random = this.#random
    const isCreate = this.#idle.length === 0 || random.chance(createShare)
    const row = isCreate ? this.#newRow(creatable[n % creatable.length] as Resource) : this.#takeIdle()
    const { resource } = row
    const isUpdate = resource.update && (!resource.delete || random.chance(updateShare))
    const method = isCreate ? 'POST' : isUpdate ? 'PATCH' : 'DELETE'
    const sample = sampleBody(registry, resource, n)
    const changed = updatableFields(resource).filter(
      (field) => !(field.unique && field.references) && random.chance(0.5),
    )
    const values = isCreate ? sample : Object.fromEntries(changed.map(({ name }) => [name, sample[name] ?? null]))
    const long = writableFields(resource).find((field) => isFreeText(field) && values[field.name] !== undefined)
    if (long && random.chance(longShare)) {
      values[long.name] = `${values[long.name]} ${'and on '.repeat(1 + random.below(4_000))}`
    }
    const before = row.text === undefined ? {} : JSON.parse(row.text)
    const isDelete = method === 'DELETE'
    const write: Write = {
      row,
      method,
      body: isDelete ? undefined : JSON.stringify(values),
      key: random.chance(keyedShare) ? `${this.#keyPrefix}-${n}` : undefined,
      content: isDelete ? undefined : rowContent(resource, { ...before, ...values }),
      response: undefined,
    }
    row.unanswered = write
    this.sent.push(write)
    return write
  }

  #newRow(resource: Resource): KnownRow {
    const row = { resource, id: undefined, text: undefined, unanswered: undefined }
    this.rows.push(row)
    return row
  }

  #takeIdle(): KnownRow {
    const index = this.#random.below(this.#idle.length)
    const [row, last] = [this.#idle[index], this.#idle.pop()] as [KnownRow, KnownRow]
    if (row !== last) this.#idle[index] = last
    return row
  }

  /** Records that a row is known to have this JSON, or not to exist. */
  settle(row: KnownRow, text: string | undefined): void {
    row.text = text
    row.unanswered = undefined
    if (text === undefined) return
    row.id = JSON.parse(text).id
    if (row.resource.update || row.resource.delete) this.#idle.push(row)
  }

  /** Records a response; throws a WrongResponse if it is not allowed. */
  record(write: Write, { status, text }: RawResponse): void {
    const { row, method, key } = write
    const wrong = (why: string) =>
      new WrongResponse(`${method} of ${row.resource.path} ${row.id ?? ''} (key ${key}): ${why}`)
    if (status === successes[method]) {
      if (write.response === text) return
      if (write.response !== undefined) throw wrong(`two responses:\n${write.response}\n${text}`)
      const content = text === '' ? undefined : rowContent(row.resource, JSON.parse(text))
      if (content !== write.content) throw wrong(`the row has ${content} instead of ${write.content}`)
      write.response = text
      this.settle(row, text === '' ? undefined : text)
      return
    }
    const isRejected = status === 422 && isOnlyUnique(text) && hasUniqueReference(row.resource)
    if (!isRejected && status !== 503) throw wrong(`${status} ${text}`)
    // A write with a key may have been sent by another client too, which may get another response.
    const isStoredNever = isRejected || (key === undefined && !text.includes('outcome_unknown'))
    if (isStoredNever && row.unanswered === write) this.settle(row, row.text)
  }
}
