/** Plans the writes of a request: what each stores, with the ids and the rows that those before it make. */
import type { BatchMethod } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { allowedBody } from '../contract/hiddenFields.js'
import { bodyIssue, changeIssues } from '../contract/issues.js'
import type { BodyReader } from '../contract/rowBody.js'
import type { Rights } from '../descriptor/access.js'
import { isJson, isWhole } from '../descriptor/kinds/index.js'
import {
  currentStamps,
  type Field,
  idField,
  type Resource,
  type RowId,
  type RowValues,
  type Value,
} from '../descriptor/registry.js'
import { isRuled } from '../descriptor/rowRules.js'
import { inTurns } from '../process/batchPerTick.js'
import { rowTag } from '../storage/sql.js'
import type { Tables } from '../storage/storage.js'
import type { Write, WriteBatch } from '../storage/writeData.js'

/** A write as its client has sent it. */
export interface SentWrite {
  readonly method: BatchMethod
  readonly resource: Resource
  /** Of a create and an update. */
  readonly readBody?: BodyReader | undefined
  /** The row to change; none for a create. */
  readonly id?: RowId | undefined
  /** Of a create, the id of a deleted row that is created again. */
  readonly formerId?: RowId | undefined
  readonly ifMatch?: readonly string[] | undefined
  readonly body?: unknown
  /** The body as JSON, with the digits of its numbers. */
  readonly source?: string
  /** The name by which later writes refer to its row. */
  readonly as?: string | undefined
  /** What else is wrong with the request. */
  readonly issues?: readonly errors.Issue[]
}

/** Stands for an integer id that is not assigned yet: as large as no row's, and another one for each operation. */
const placeholderFrom = 2 ** 52

/** The row that an operation creates, as later ones refer to it. */
interface Named {
  readonly operation: number
  /** Its id, if that is known before it is stored. */
  readonly id: Value | undefined
}

/** An operation that can be made: its write, and what its errors need. */
export interface Planned {
  readonly resource: Resource
  readonly write: Write
  readonly id?: RowId
  readonly values: RowValues
}

/** An operation that cannot be made; its conflicts are looked for too, if it has values. */
export class Invalid extends Error {
  readonly issues: readonly errors.Issue[]
  readonly check: WriteBatch['check']
  /** A write without a change, which fails if the row is not there, or is another one: that comes before what is wrong with the body. */
  readonly probe: Write | undefined

  constructor(issues: readonly errors.Issue[], check?: WriteBatch['check'], probe?: Write) {
    super('the operation is invalid')
    this.issues = issues
    this.check = check
    this.probe = probe
  }
}

/** What the operations before one have made, as far as it is known. */
interface Made {
  readonly names: Map<string, Named>
  /** The rows that were created or changed, by path and id. */
  readonly rows: Map<string, RowValues>
}

const isReferenceTo = (value: unknown): value is { readonly $ref: unknown } =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === '$ref'

/** Whether a field takes every integer, so that an id which is not assigned yet cannot be wrong. */
const takesAnyId = ({ rules = [] }: Resource, field: Field): boolean =>
  field.references !== undefined ||
  (isWhole(field) &&
    [field.min, field.max, field.oneOf].every((bound) => bound === undefined) &&
    !rules.some(({ fields }) => fields.includes(field.name)))

/** A body without references to rows that are created before it. */
const literal = (body: unknown) => ({ body, later: new Map<string, Named>(), issues: [] as errors.Issue[] })

/** The body with the ids of rows that are created before it, or what stands for them. */
const resolved = (body: unknown, resource: Resource, names: ReadonlyMap<string, Named>) => {
  const { later, issues } = literal(body)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, later, issues }
  const isJsonField = (name: string) => resource.fields.some((field) => field.name === name && isJson(field))
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    if (!isReferenceTo(value) || isJsonField(name)) return [name, value]
    const [, as] = /^(.*)\.id$/s.exec(typeof value.$ref === 'string' ? value.$ref : '') ?? []
    const named = as === undefined ? undefined : names.get(as)
    const field = resource.fields.find((one) => one.name === name)
    if (named && named.id === undefined && !(field && takesAnyId(resource, field))) {
      issues.push(bodyIssue('reference', `${name} has rules, and the id that they need is not assigned yet.`, name))
      return [name, null]
    }
    if (named && named.id === undefined) later.set(name, named)
    if (named) return [name, named.id ?? placeholderFrom + named.operation]
    const what = `{"$ref": ${JSON.stringify(value.$ref)}} names no row`
    issues.push(
      bodyIssue('reference', `${name}: ${what} that an earlier operation creates; write {"$ref": "NAME.id"}.`, name),
    )
    return [name, null]
  })
  return { body: Object.fromEntries(entries), later, issues }
}

/** The values with markers for the ids that are not assigned yet. */
const withMarkers = (values: RowValues, later: ReadonlyMap<string, Named>): RowValues => ({
  ...values,
  ...Object.fromEntries([...later].map(([name, { operation }]) => [name, { $operation: operation }])),
})

/**
 * Creates the function that plans the writes of one request. What depends on the time is the same however often they are planned: a
 * row that is changed twice would otherwise be another one each time.
 */
export const writePlanner = (
  storage: Tables,
  rights: Rights,
  sentWrites: readonly (() => SentWrite)[],
  /** Whether it is the only one: its row was checked before its body was read, and there are no others to refer to. */
  isSingle: boolean,
) => {
  const bodies = new Map<number, ReturnType<BodyReader>>()
  const stamps = new Map<Resource, RowValues>()
  const stampsOf = (resource: Resource): RowValues => {
    const resourceStamps = stamps.get(resource) ?? currentStamps(resource)
    stamps.set(resource, resourceStamps)
    return resourceStamps
  }

  /** What an update is compared with: the row as it is, or as it was made, and the tag that the row must still have then. */
  const compared = async (resource: Resource, id: RowId, foundRow: Buffer | undefined, made: Made) => {
    const simulated = foundRow ? undefined : made.rows.get(`${resource.path}/${id}`)
    // Nobody else can change it before the transaction ends.
    if (simulated) return { before: simulated, tag: undefined }
    const body = foundRow ?? (await storage.table(resource, [], rights).get(id))?.body
    return body ? { before: JSON.parse(String(body)) as RowValues, tag: rowTag(body) } : { before: undefined, tag: '' }
  }

  const plan = async (operation: number, made: Made, foundRow: Buffer | undefined): Promise<Planned> => {
    const sentWrite = (sentWrites[operation] as () => SentWrite)()
    const { method, resource, readBody, id, ifMatch, as, issues: otherIssues = [] } = sentWrite
    if (as !== undefined && made.names.has(as))
      throw new Invalid([
        { type: 'unique', loc: ['as'], msg: `An earlier operation has "as": ${JSON.stringify(as)} too.` },
      ])
    if (method === 'DELETE' && id !== undefined) {
      if (otherIssues.length > 0) throw new Invalid(otherIssues)
      // It may delete and change others too.
      made.rows.clear()
      return { resource, id, values: {}, write: { kind: 'delete', id, ifMatch } }
    }
    const {
      body,
      later,
      issues: references,
    } = isSingle ? literal(sentWrite.body) : resolved(sentWrite.body, resource, made.names)
    const readAllowed = () => allowedBody(readBody as BodyReader, resource, rights.of(resource))
    const { values, issues } = bodies.get(operation) ?? readAllowed()(body, sentWrite.source ?? '')
    bodies.set(operation, { values, issues })
    const isForbidden = (name: unknown) => issues.some(({ type, loc }) => type === 'extra_forbidden' && loc[1] === name)
    const unresolved = references.filter(({ loc }) => !isForbidden(loc[1]))
    const allIssues = [
      ...unresolved,
      ...issues.filter(({ loc }) => !unresolved.some((reference) => reference.loc[1] === loc[1])),
      ...otherIssues,
    ]
    const marked = withMarkers(values, later)
    const names = Object.keys(Object(body))
    const refuse = (wrongIssues: readonly errors.Issue[]): never => {
      const isProbed = id !== undefined && !isSingle
      const probe: Write | undefined = isProbed ? { kind: 'update', id, values: {}, stamps: {}, ifMatch } : undefined
      throw new Invalid(wrongIssues, { resource, values: marked, sent: names, ...(id !== undefined && { id }) }, probe)
    }
    if (id === undefined) {
      if (allIssues.length > 0) refuse(allIssues)
      const newId = isWhole(idField(resource)) ? undefined : values['id']
      if (as !== undefined) made.names.set(as, { operation, id: newId })
      if (newId !== undefined) made.rows.set(`${resource.path}/${newId}`, values)
      return { resource, values, write: { kind: 'insert', values: marked, sent: names, id: sentWrite.formerId } }
    }
    const write = { kind: 'update', id, values: marked, stamps: stampsOf(resource), ifMatch } as const
    if (!isRuled(resource)) {
      if (allIssues.length > 0) refuse(allIssues)
      return { resource, id, values, write }
    }
    const { before, tag } = await compared(resource, id, foundRow, made)
    const broken = before ? changeIssues(resource, before, values, write.stamps) : []
    // What was read before the transaction may have changed, so that only the row as it is then decides.
    const decided = tag === undefined || foundRow ? broken : []
    if (allIssues.length + decided.length > 0) refuse([...allIssues, ...decided])
    if (before) made.rows.set(`${resource.path}/${id}`, { ...before, ...values, ...write.stamps })
    // No row has an empty tag.
    return { resource, id, values, write: { ...write, unchanged: broken.length > 0 ? '' : tag } }
  }

  /** Plans them up to the first that cannot be made; `found` has rows as they were found by writes that could not be made. */
  return async (foundRows: ReadonlyMap<number, Buffer>) => {
    const pause = inTurns()
    const made: Made = { names: new Map(), rows: new Map() }
    const planned: Planned[] = []
    for (const n of sentWrites.keys()) {
      await pause()
      try {
        planned.push(await plan(n, made, foundRows.get(n)))
      } catch (error) {
        if (error instanceof Invalid || error instanceof errors.HttpError) return { planned, failure: error }
        throw error
      }
    }
    return { planned, failure: undefined }
  }
}
