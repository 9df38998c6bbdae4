/** Restores a former state of a row: as an ordinary update, or as the create of a deleted row under its id. */
import * as errors from '../contract/errors.js'
import { itemIdParser } from '../contract/parameters.js'
import { importReaders } from '../contract/verbs.js'
import { allRights, isAllowed } from '../descriptor/access.js'
import { memberTexts } from '../descriptor/jsonText.js'
import {
  type Field,
  newRow,
  type Resource,
  type RowId,
  updatableFields,
  writableFields,
} from '../descriptor/registry.js'
import { withoutStart } from '../descriptor/rowRules.js'
import { rowUrl } from '../explorer/links.js'
import type { FormHandler, FormRequest } from './forms.js'
import { explainIssues, seenResource, type Writer } from './rowForms.js'
import type { Service } from './serviceParts.js'
import { storeWrite } from './transact.js'
import { findChangeable, replayed } from './write.js'
import type { SentWrite } from './writePlan.js'

const notKept = () => errors.ownError(409, 'conflict', 'This state is not kept any more.')

const notYours = (fields: readonly Field[]) =>
  errors.ownError(
    403,
    'forbidden',
    `Not restored: it would change ${fields.map(({ name }) => name).join(', ') || 'a field'}, which you may not change.`,
  )

export const createRestoreForm = (service: Service, { resource, PATCH: readUpdate }: Writer): FormHandler => {
  const { storage } = service
  const { readCreate } = importReaders(withoutStart(resource))

  /** A former state and the row as it is, both with what the visitor does not see. */
  const read = async ({ permit, posted: { texts } }: FormRequest, id: RowId) => {
    const given = texts.get('form.state') ?? ''
    const position = /^\d{1,18}$/.test(given) ? given : '0'
    const page = { limit: 1, offset: 0n, position }
    const seen = await storage.history(resource, id, { ...page, rights: permit.rights })
    if (!seen) throw errors.rowNotFound(resource.name, id)
    const whole = await storage.history(resource, id, { ...page, rights: allRights })
    const [state, wholeState] = [seen.entries[0]?.row, whole?.entries[0]?.row]
    if (!state || !wholeState) throw notKept()
    const current = (await storage.table(resource).get(id))?.body
    return { state, wholeState, current: current && memberTexts(String(current)) }
  }

  /** What is written, as JSON; throws if not all of it may be written. */
  const changesOf = (
    { permit: { rights } }: FormRequest,
    { state, wholeState, current }: Awaited<ReturnType<typeof read>>,
  ): string => {
    const { readOnly } = rights.of(resource)
    // What a create stores where nothing is sent.
    const preset = newRow(resource, {})
    const writable = current ? updatableFields(resource) : writableFields(resource)
    const changed = resource.fields.filter(({ name, managed, redacted, onUpdate }) => {
      if (name === 'id' || managed || redacted || onUpdate) return false
      const former = wholeState.get(name)
      const now = current ? (current.get(name) ?? 'null') : JSON.stringify(preset[name] ?? null)
      return former !== undefined && former !== now
    })
    const isWritable = ({ name }: Field) =>
      state.has(name) && !readOnly.includes(name) && writable.some((field) => field.name === name)
    const others = changed.filter((field) => !isWritable(field))
    if (others.length > 0) throw notYours(others.filter(({ name }) => state.has(name)))
    const names = changed.map(({ name }) => name)
    if (!current && writable.some(({ name }) => name === 'id')) names.unshift('id')
    return `{${names.map((name) => `${JSON.stringify(name)}:${state.get(name)}`).join()}}`
  }

  return {
    isAllowed: ({ rights }) => isAllowed(rights.of(resource).update) || isAllowed(rights.of(resource).create),
    async store(request) {
      const { permit, posted, segment, idempotencyKey, visitor } = request
      const { rights } = permit
      seenResource(visitor, resource)
      const { id, text } = itemIdParser(resource, errors.bodyInvalid)(segment)
      if (id === undefined) throw errors.rowNotFound(resource.name, text)
      const done = { next: rowUrl(resource, id), message: `${resource.name} #${id} restored.` }
      const earlier = idempotencyKey && (await storage.table(resource).earlierWrite(idempotencyKey.key))
      if (earlier && idempotencyKey) {
        replayed(earlier, idempotencyKey)
        return done
      }
      const states = await read(request, id)
      const isThere = states.current !== undefined
      const isOffered = isThere ? updatableFields(resource).length > 0 : resource.create
      if (!isOffered || !isAllowed(rights.of(resource)[isThere ? 'update' : 'create'])) throw errors.forbidden()
      const tag = posted.texts.get('form.tag')
      const ifMatch = isThere && tag !== null ? [tag] : undefined
      const row = isThere ? await findChangeable(storage, rights, resource, 'update', { id, text, ifMatch }) : undefined
      const source = changesOf(request, states)
      const sent = { resource, body: JSON.parse(source), source }
      const write: SentWrite = isThere
        ? { ...sent, method: 'PATCH', readBody: readUpdate, id, ifMatch }
        : { ...sent, method: 'POST', readBody: readCreate, formerId: id }
      await storeWrite(service, write, { permit, idempotencyKey }, row)
      return done
    },
    explain(request, error) {
      const { visitor, posted } = request
      const seen: Resource = seenResource(visitor, resource)
      if (error.status !== 412) return explainIssues(request, seen, 'update', error)
      return {
        ...posted,
        status: 412,
        message: 'Not restored: somebody else has changed this row since you opened it.',
      }
    },
  }
}
