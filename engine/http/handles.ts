/** What the code of a project reads and writes with: the rows of a resource, within the rights of somebody. */
import * as errors from '../contract/errors.js'
import { forbiddenParameters } from '../contract/hiddenFields.js'
import { arrayElements } from '../contract/importRows.js'
import { listQueryParser } from '../contract/parameters.js'
import { type BodyReader, createBodyReader, updateBodyReader } from '../contract/rowBody.js'
import { createSchema, updateSchema } from '../contract/schemas.js'
import { allRights, isAllowed, type Rights } from '../descriptor/access.js'
import type { AccessName } from '../descriptor/define.js'
import type { GivenId, Handle } from '../descriptor/handle.js'
import { listParameters } from '../descriptor/listParameters.js'
import type { ListQuery } from '../descriptor/listQuery.js'
import { didYouMean } from '../descriptor/nearest.js'
import type { CodeContext } from '../descriptor/operation.js'
import { parseId, type Registry, type Resource, type RowId, updatableFields } from '../descriptor/registry.js'
import { buildOnce } from '../process/buildOnce.js'
import { rowTag } from '../storage/sql.js'
import type { Tables } from '../storage/storage.js'
import type { Permit } from './callers.js'
import { tagsAllowedBy } from './conditional.js'
import { refusalOf } from './failedCode.js'
import type { Stored } from './write.js'
import type { SentWrite } from './writePlan.js'

/** Where code reads and writes, until it has ended. */
export interface Work {
  readonly storage: Pick<Tables, 'table'>
  /** Runs a step; throws once the code has ended. */
  step<T>(run: () => Promise<T>): Promise<T>
  /** Makes a write, with the hooks of its resource. */
  write(write: SentWrite, rights: Rights): Promise<Stored>
  /** Called with each call that fails. */
  onFailure(failed: Call<unknown>, error: unknown): void
}

/** What a handle returns; it knows whether the code waits for it. */
export class Call<T> extends Promise<T> {
  static override get [Symbol.species]() {
    return Promise
  }

  isAwaited = false

  // biome-ignore lint/suspicious/noThenProperty: await calls it
  override then<A = T, B = never>(
    onDone?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true
    return super.then(onDone, onError)
  }
}

type Row = Readonly<Record<string, unknown>>
type AnyHandle = Handle<Row, object, object, object, object>

/** The tags of rows that code has got. */
const tags = new WeakMap<Row, string>()

/** A row as code gets it. */
export const rowOf = (body: Buffer): Row => {
  const row = JSON.parse(String(body)) as Row
  tags.set(row, `"${rowTag(body)}"`)
  return row
}

const tagOf = (row: Row): string => {
  const tag = tags.get(row)
  if (tag === undefined) throw new TypeError('tag() takes a row as get, list, create or update has returned it')
  return tag
}

/** What the handles of a resource need, whosever they are. */
const partsOf = (registry: Registry, resource: Resource) => {
  const open = { ...resource, update: true }
  const once = buildOnce<BodyReader>()
  return {
    resource,
    parseQuery: listQueryParser(resource, registry),
    parameters: listParameters(resource, registry),
    readCreate: () => once('create', () => createBodyReader(resource, createSchema(resource))),
    readUpdate: (isService: boolean) => {
      const changed = isService ? open : resource
      return once(`update ${isService}`, () => updateBodyReader(changed, updateSchema(changed)))
    },
  }
}

type Parts = ReturnType<typeof partsOf>

const partsByRegistry = new WeakMap<Registry, Map<string, Parts>>()

const partsOfTable = (registry: Registry, table: unknown): Parts => {
  const partsByTable = partsByRegistry.get(registry) ?? new Map<string, Parts>()
  partsByRegistry.set(registry, partsByTable)
  const cachedParts = partsByTable.get(String(table))
  if (cachedParts) return cachedParts
  const resource = registry.find((one) => one.table === table)
  if (!resource) throw new TypeError('of() takes the default export of a file in resources/')
  const parts = partsOf(registry, resource)
  partsByTable.set(resource.table, parts)
  return parts
}

const isPlain = (value: unknown): boolean => value !== undefined && value !== null && Object(value) !== value

const isRecord = (value: unknown): boolean =>
  Object(value) === value && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** The parameters of a list as a query string, and those whose lists of values are empty, so that no row matches. */
const querystringOf = ({ resource, parameters }: Parts, given: object, excluded: readonly string[]) => {
  if (!isRecord(given)) throw new TypeError(`the list of ${resource.path} takes an object with its parameters`)
  const names = [...parameters.keys()].filter((name) => !excluded.includes(name))
  const query = new URLSearchParams()
  const empty: string[] = []
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name))
      throw new TypeError(`the list of ${resource.path} has no parameter "${name}"${didYouMean(name, names)}`)
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (!values.every(isPlain) || (Array.isArray(value) && !parameters.get(name)?.maxValues))
      throw new TypeError(`${name} of the list of ${resource.path} cannot be ${JSON.stringify(value) ?? 'undefined'}`)
    if (values.length === 0 && name !== 'expand') empty.push(name)
    for (const one of values) query.append(name, String(one))
  }
  return { querystring: String(query), empty }
}

const parseList = ({ resource, parseQuery }: Parts, querystring: string): ListQuery => {
  try {
    return parseQuery(querystring)
  } catch (error) {
    if (!(error instanceof errors.HttpError)) throw error
    const { detail } = error.body as { detail: readonly errors.Issue[] }
    const reasons = detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join('; ')
    throw new TypeError(`the list of ${resource.path} does not take ${reasons}`)
  }
}

/** The JSON of a body; what JSON would silently leave out or make null throws. */
const bodyOf = (values: object) => {
  const source = JSON.stringify(values, (name, value) => {
    if (
      typeof value === 'function' ||
      typeof value === 'symbol' ||
      (typeof value === 'number' && !Number.isFinite(value))
    )
      throw new TypeError(`${name} cannot be ${String(value)}`)
    return value
  })
  if (!isRecord(values)) throw new TypeError('a row is an object with its fields')
  return { body: JSON.parse(source) as unknown, source }
}

const bytesOf = async (body: Buffer | AsyncIterable<Uint8Array>): Promise<Buffer> => {
  if (Buffer.isBuffer(body)) return body
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts)
}

/** The rows of a resource, with the rights of a caller, or as the service with all rights, which go beyond what the descriptor offers. */
const handleOf = (
  registry: Registry,
  work: Work,
  parts: Parts,
  { caller, rights: callerRights }: Permit,
  isService: boolean,
): AnyHandle => {
  const rights = isService ? allRights : callerRights
  const { resource } = parts
  const require = (name: AccessName, isOffered: boolean): void => {
    if (isService || (isOffered && isAllowed(rights.of(resource)[name]))) return
    const isNobody = caller.name === undefined && !caller.isService
    throw refusalOf(resource, name, isNobody ? errors.callerMissing() : errors.forbidden(), isService)
  }
  const idOf = (given: GivenId): RowId | undefined => {
    if (!isPlain(given)) throw new TypeError(`the id of a row of ${resource.path} cannot be ${given}`)
    return parseId(resource, String(given))
  }
  const existing = (given: GivenId, verb: string): RowId => {
    const id = idOf(given)
    if (id === undefined) throw refusalOf(resource, verb, errors.rowNotFound(resource.name, String(given)), isService)
    return id
  }
  const started =
    <A extends readonly unknown[], T>(run: (...given: A) => Promise<T>) =>
    (...given: A): Promise<T> => {
      const call = new Call<T>((resolve, reject) => {
        run(...given).then(resolve, reject)
      })
      Promise.prototype.then.call(call, undefined, (error) => work.onFailure(call, error))
      return call
    }
  const write = async (verb: string, sent: Omit<SentWrite, 'resource'>): Promise<Row> => {
    try {
      const { body } = await work.write({ ...sent, resource }, rights)
      return body.length === 0 ? {} : rowOf(body)
    } catch (error) {
      throw refusalOf(resource, verb, error, isService)
    }
  }
  const page = async (given: object, excluded: readonly string[] = ['after'], limited = '') => {
    require('read', true)
    const { querystring, empty } = querystringOf(parts, given, excluded)
    try {
      forbiddenParameters(registry, resource, rights, [querystring, ...empty].join('&'))
    } catch {
      throw refusalOf(resource, 'list', errors.forbidden())
    }
    const query = parseList(parts, querystring + limited)
    const {
      expand = [],
      page: { limit, offset },
    } = query
    const text = await work.step(async () => {
      if (empty.length > 0) return `{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`
      return String(await bytesOf((await work.storage.table(resource, expand, rights).list(query)).body))
    })
    return { text, hasTags: expand.length === 0 }
  }
  /** The tags of a row that code may name: with all rights, also that of the row as its caller sees it. */
  const allowedTags = async (given: string | readonly string[] | undefined, id: RowId) => {
    const named = tagsAllowedBy(given === undefined ? undefined : [given].flat().join(', '))
    if (!named || !isService) return named
    return work.step(async () => {
      const row = await work.storage.table(resource).get(id)
      const seenRow = await work.storage.table(resource, [], callerRights).get(id)
      return row && seenRow && named.includes(seenRow.tag) ? [row.tag] : named
    })
  }
  return {
    get: started(async (given) => {
      require('read', true)
      const id = idOf(given)
      const row = await work.step(async () =>
        id === undefined ? undefined : work.storage.table(resource, [], rights).get(id),
      )
      return row ? rowOf(row.body) : null
    }),
    list: started(async (given = {}) => {
      const { text, hasTags } = await page(given)
      const read = JSON.parse(text)
      if (!hasTags) return read
      const rows = arrayElements(text, '{"data":['.length, /^,"meta":.*\}$/, () => new Error('a page has another form'))
      return { ...read, data: [...rows].map((row) => rowOf(Buffer.from(row))) }
    }),
    count: started(async (given = {}) => {
      const { text } = await page(given, ['after', 'limit', 'offset', 'sort', 'expand'], '&limit=1')
      return JSON.parse(text).meta.total
    }),
    create: started(async (values) => {
      require('create', resource.create)
      return write('create', { method: 'POST', readBody: parts.readCreate(), ...bodyOf(values) })
    }),
    update: started(async (given, values, { ifMatch } = {}) => {
      require('update', updatableFields(resource).length > 0)
      const id = existing(given, 'update')
      const readBody = parts.readUpdate(isService)
      return write('update', {
        method: 'PATCH',
        id,
        readBody,
        ifMatch: await allowedTags(ifMatch, id),
        ...bodyOf(values),
      })
    }),
    delete: started(async (given) => {
      require('delete', resource.delete === true)
      await write('delete', { method: 'DELETE', id: existing(given, 'delete') })
    }),
    tag: tagOf,
  }
}

/** What code gets to read and write with, in the name of a caller. */
export const codeTools = (registry: Registry, work: Work, permit: Permit): CodeContext => {
  const { name, roles, claims } = permit.caller
  const make =
    (isService: boolean) =>
    ({ table }: { readonly table: string }) =>
      handleOf(registry, work, partsOfTable(registry, table), permit, isService)
  const tools = {
    caller: structuredClone({ name, roles, claims }),
    of: make(false),
    asService: { of: make(true) },
  }
  return tools as unknown as CodeContext
}
