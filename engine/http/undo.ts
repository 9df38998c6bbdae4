/** Takes back deletes of the explorer: their rows, and those that were deleted with them, are kept sealed by the browser for a minute. */
import type { SentOperation } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { arrayElements } from '../contract/importRows.js'
import { bodyIssue } from '../contract/issues.js'
import { bodyLimit } from '../contract/rowBody.js'
import { type Identity, isAllowed } from '../descriptor/access.js'
import { memberTexts } from '../descriptor/jsonText.js'
import { idField, type Registry, type Resource, referencesTo, type Value } from '../descriptor/registry.js'
import { type Storage, type StoredRow, Unavailable } from '../storage/storage.js'
import { rowTag } from '../storage/write.js'
import { readText } from './body.js'
import type { Handler, Service } from './handlers.js'
import { sealer } from './seals.js'

/** How long a delete can be taken back, in milliseconds: a minute, and what an answer takes. */
const undoMs = 75_000

/** The most rows that are kept, and the most characters of them. */
const [maxRows, maxLength] = [1_000, 500_000]

interface KeptRow {
  readonly path: string
  readonly row: StoredRow
}

interface Kept {
  readonly until: number
  /** Who has deleted them. */
  readonly by: string
  readonly rows: readonly KeptRow[]
}

/** A row as it is stored, JSON as its text; undefined if that cannot be read. */
const storedRow = async (storage: Storage, resource: Resource, body: Buffer): Promise<StoredRow | undefined> => {
  const source = String(body)
  const row = JSON.parse(source) as Record<string, Value>
  const texts = memberTexts(source)
  const json = resource.fields.filter(({ name, kind }) => kind === 'json' && row[name] !== null)
  const whole = { ...row, ...Object.fromEntries(json.map(({ name }) => [name, texts.get(name) ?? null])) }
  if (!resource.fields.some(({ redacted }) => redacted)) return whole
  if (idField(resource).kind !== 'integer') return undefined
  // What nobody may read is read for copies only; this one is sealed.
  const [found] = await storage.rows(resource, Number(row['id']) - 1, 1)
  if (!found || Number(found['id']) !== Number(row['id'])) return undefined
  return { ...found, ...Object.fromEntries(json.map(({ name }) => [name, texts.get(name) ?? null])) }
}

/** Reads the rows that some deletes will remove; undefined if they could not be stored again as they are. */
const rowsOf = async (
  storage: Storage,
  registry: Registry,
  deleted: readonly { readonly resource: Resource; readonly id: string }[],
): Promise<KeptRow[] | undefined> => {
  const kept = new Map<string, KeptRow>()
  const add = async (resource: Resource, body: Buffer): Promise<boolean> => {
    const { id } = JSON.parse(String(body)) as { id: string | number }
    const key = `${resource.path}/${id}`
    if (kept.has(key)) return true
    const row = resource.existing ? undefined : await storedRow(storage, resource, body)
    if (!row || kept.size >= maxRows) return false
    kept.set(key, { path: resource.path, row })
    for (const { resource: referrer, field } of referencesTo(registry, resource.path)) {
      const found = await storage.table(referrer).rowsWith(field.name, [id])
      if (found.length === 0) continue
      // What refers to nothing afterwards would have to be changed again, and somebody may have done so.
      if (field.onDelete === 'set null' || found.length > maxRows) return false
      if (field.onDelete !== 'cascade') continue
      for (const one of found) if (!(await add(referrer, one))) return false
    }
    return true
  }
  for (const { resource, id } of deleted) {
    const body = await storage.table(resource).whole(id)
    if (!body || !(await add(resource, body))) return undefined
  }
  return [...kept.values()]
}

export const undoer = (service: Service) => {
  const { storage, registry, sessionSecret, callers } = service
  const { seal, open } = sealer<Kept>('deleted rows', sessionSecret)
  const resourceAt = (path: string) => registry.find((resource) => resource.path === path)
  const nameOf = ({ name, owner, isService }: Identity) => JSON.stringify([isService, name, owner])

  return {
    /** Before a batch is made: what its deletes will remove. */
    async before(sent: readonly SentOperation[]): Promise<readonly KeptRow[] | undefined> {
      if (sent.length === 0 || sent.some(({ method, issues }) => method !== 'DELETE' || issues.length > 0))
        return undefined
      try {
        const deleted = sent.map(({ path }) => {
          const [, name = '', id = ''] = /\/v1\/([^/]+)\/([^/]+)$/.exec(path) ?? []
          return { resource: resourceAt(name) as Resource, id: decodeURIComponent(id) }
        })
        const rows = await rowsOf(storage, registry, deleted)
        // JSON does not hold every integer.
        return JSON.stringify(rows) === undefined ? undefined : rows
      } catch {
        // The batch itself says what is wrong.
        return undefined
      }
    },

    /** After it: the results with the tags of their rows, and what takes the deletes back. */
    after(body: Buffer, rows: readonly KeptRow[] | undefined, caller: Identity): Buffer {
      const source = String(body)
      const results = [...arrayElements(source, '{"results":['.length, /^\}$/, () => errors.internalError())]
      const tags = results.map((result) => {
        const row = memberTexts(result).get('body')
        return row === undefined ? null : rowTag(Buffer.from(row))
      })
      const sealed = rows && seal({ until: Date.now() + undoMs, by: nameOf(caller), rows })
      const undo = sealed && sealed.length <= maxLength ? `,"undo":${JSON.stringify(sealed)}` : ''
      return Buffer.from(`${source.slice(0, -1)},"tags":${JSON.stringify(tags)}${undo}}`)
    },

    /** Stores the rows of a sealed text again. */
    restore: (async (ctx) => {
      const { caller, rights } = await callers.required(ctx, 'write')
      const { undo } = JSON.parse(await readText(ctx, ['application/json'], bodyLimit)) as { undo?: unknown }
      const kept = typeof undo === 'string' ? open(undo) : undefined
      if (!kept || kept.by !== nameOf(caller))
        throw errors.bodyInvalid([bodyIssue('value_error', 'This cannot be taken back.', 'undo')])
      if (Date.now() > kept.until)
        throw errors.bodyInvalid([bodyIssue('value_error', 'A delete can be taken back for a minute only.', 'undo')])
      const batches = kept.rows.map(({ path, row }) => ({ resource: resourceAt(path) as Resource, row }))
      if (!isAllowed(rights.of(batches[0]?.resource as Resource).delete)) throw errors.forbidden()
      try {
        await storage.fill(batches.map(({ resource, row }) => ({ resource, rows: [row] })))
      } catch (error) {
        if (error instanceof Unavailable) throw error
        throw errors.bodyInvalid([
          bodyIssue('conflict', 'It cannot be taken back: other rows have taken its place meanwhile.', 'undo'),
        ])
      }
      ctx.state.usedDatabase = true
      ctx.body = { restored: kept.rows.length }
    }) satisfies Handler,
  }
}
