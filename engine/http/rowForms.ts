/** Stores the forms that create, change and delete a row. */
import * as errors from '../contract/errors.js'
import { rowSizeIssue } from '../contract/importRows.js'
import type { BatchOperation } from '../contract/operations.js'
import { isAllowed } from '../descriptor/access.js'
import { type Resource, type RowValues, updatableFields, writableFields } from '../descriptor/registry.js'
import type { Posted } from '../explorer/controlTexts.js'
import { postedText } from '../explorer/controlTexts.js'
import { type Done, undoButton } from '../explorer/done.js'
import { doubtOf, editedFields } from '../explorer/formPages.js'
import { readRowForm } from '../explorer/forms.js'
import { html } from '../explorer/html.js'
import { pageUrl, rowUrl } from '../explorer/links.js'
import { readLabels, rowLabel } from '../explorer/names.js'
import type { Visitor } from '../explorer/page.js'
import { findRow } from '../explorer/rows.js'
import { issueWords } from '../explorer/ruleWords.js'
import { rowTag } from '../storage/sql.js'
import { type FormHandler, type FormRequest, issuesIn } from './forms.js'
import type { Service } from './serviceParts.js'
import { storeWrite } from './transact.js'
import { findChangeable, replayed } from './write.js'

export type Writer = NonNullable<ReturnType<BatchOperation['writers']['get']>>

const methods = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const
const doneWords = { create: 'created', update: 'saved', delete: 'deleted' } as const
export type RowForm = keyof typeof methods

/** A resource as a visitor sees it. */
export const seenResource = ({ registry }: Visitor, { path }: Resource): Resource => {
  const seen = registry.find((one) => one.path === path)
  if (!seen) throw errors.forbidden()
  return seen
}

const isOffered: Readonly<Record<RowForm, (resource: Resource) => boolean>> = {
  create: ({ create }) => create,
  update: (resource) => updatableFields(resource).length > 0,
  delete: (resource) => resource.delete === true,
}

/** A resource as a visitor sees it, if there is such a form of it. */
export const offeredResource = (visitor: Visitor, resource: Resource, kind: RowForm): Resource => {
  const seen = seenResource(visitor, resource)
  if (!isOffered[kind](seen)) throw errors.forbidden()
  return seen
}

/** What a form says about an error: each issue at its field, and the others above the form. */
export const explainIssues = (
  { visitor, posted }: FormRequest,
  resource: Resource,
  kind: RowForm,
  error: errors.HttpError,
  prefix = '',
): Posted => {
  const { status, message } = error
  const what = prefix === '' ? 'the row' : 'the rows'
  if (error.code === 'outcome_unknown') return { ...posted, status, message: doubtOf(resource, what, doneWords[kind]) }
  const allIssues = issuesIn(error)
  // Of a value that cannot be read, it is no news that it is missing.
  const issues = allIssues.filter(
    ({ type, loc }) =>
      type !== 'missing' || !allIssues.some((one) => one.type !== type && one.loc.at(-1) === loc.at(-1)),
  )
  if (issues.length === 0) return { ...posted, status, message: `${prefix}${message}` }
  if (issues.some(({ type }) => type === 'idempotency_key_reused'))
    return {
      ...posted,
      status,
      message: `What you sent before was ${doneWords[kind]} after all. Look before you send this.`,
    }
  const words = (issue: errors.Issue): string =>
    `${prefix}${issueWords(visitor.registry, resource, issue, postedText(posted, String(issue.loc.at(-1))))}`
  const isPlaced = ({ loc }: errors.Issue): boolean => postedText(posted, String(loc.at(-1))) !== undefined
  const count = issues.length === 1 ? '1 error' : `${issues.length} errors`
  return {
    ...posted,
    status,
    issues: issues.filter(isPlaced).map((issue) => ({ field: String(issue.loc.at(-1)), message: words(issue) })),
    message: [`Not ${doneWords[kind]}: ${count}.`, ...issues.filter((one) => !isPlaced(one)).map(words)].join(' '),
  }
}

const changedMeanwhile = 'Somebody else has changed this row since you opened it.'

export const createRowForm = (service: Service, { resource, ...writer }: Writer, kind: RowForm): FormHandler => {
  const { storage } = service
  const method = methods[kind]
  const readBody = kind === 'delete' ? undefined : writer[kind === 'create' ? 'POST' : 'PATCH']
  const table = pageUrl(resource)

  /** The row that is changed, as it is now, and what was sent for it. */
  const read = async ({ ctx, visitor, segment, posted, permit }: FormRequest, seen: Resource) => {
    const fields = kind === 'create' ? writableFields(seen) : editedFields(seen, ctx.querystring)
    const foundRow = kind === 'create' ? undefined : await findRow(visitor.storage, seen, segment)
    const tag = posted.texts.get('form.tag')
    const ifMatch = foundRow && tag !== null ? [tag] : undefined
    const changeable = { id: foundRow?.id ?? '', ifMatch }
    const current =
      kind === 'create' ? undefined : await findChangeable(storage, permit.rights, resource, kind, changeable)
    if (kind === 'delete') return { foundRow, ifMatch, current, fields, source: '', issues: [] }
    const labels = await readLabels(visitor, fields, ({ name }) => [foundRow?.row[name] ?? null])
    const { source, issues } = await readRowForm(visitor, fields, {
      ...(foundRow && { row: foundRow.row }),
      labels,
      posted,
    })
    const large = rowSizeIssue(resource, source)
    if (large) throw errors.bodyInvalid([large])
    return { foundRow, ifMatch, current, fields, source, issues }
  }

  const created = async ({ visitor }: FormRequest, seen: Resource, body: Buffer): Promise<Done> => {
    const id = String((JSON.parse(String(body)) as RowValues)['id'])
    // Who may create rows may not see all of them.
    const row = await visitor.storage.table(seen).get(id)
    const label = row ? rowLabel(seen, JSON.parse(String(row.body))) : `#${id}`
    const another = html`<a href="${pageUrl(resource, 'new')}">Create another</a>`
    return { next: rowUrl(resource, id), message: html`${resource.name} created. ${another}`, row: { id, label } }
  }

  return {
    isAllowed: ({ rights }) => isAllowed(rights.of(resource)[kind]),
    async store(request) {
      const { visitor, permit, idempotencyKey, segment } = request
      const seen = offeredResource(visitor, resource, kind)
      const earlier = idempotencyKey && (await storage.table(resource).earlierWrite(idempotencyKey.key))
      const form = earlier ? undefined : await read(request, seen)
      const { foundRow, ifMatch, current, fields = [], source = '', issues } = form ?? {}
      const body = source === '' ? undefined : JSON.parse(source)
      const write = { method, resource, readBody, id: foundRow?.id, ifMatch, body, source, ...(issues && { issues }) }
      const stored =
        earlier && idempotencyKey
          ? replayed(earlier, idempotencyKey)
          : await storeWrite(service, write, { permit, idempotencyKey }, current)
      if (kind === 'create') return created(request, seen, stored.body)
      const id = foundRow?.id ?? decodeURIComponent(segment)
      // The page of a deleted row can undo it.
      if (kind === 'delete')
        return { next: resource.history ? rowUrl(resource, id) : table, message: `${resource.name} #${id} deleted.` }
      const after = JSON.parse(String(stored.body)) as RowValues
      const changed = fields.filter(({ name }) => Object.hasOwn(body ?? {}, name))
      const changes = foundRow ? [{ id, tag: rowTag(stored.body), before: foundRow.row, after }] : []
      const undo = changes.length > 0 && undoButton(seen, changed, changes)
      return { next: rowUrl(resource, id), message: html`${resource.name} #${id} saved.${undo}` }
    },
    explain(request, error) {
      const { visitor, posted } = request
      if (error.status !== 412) return explainIssues(request, seenResource(visitor, resource), kind, error)
      const choose = 'Choose where both of you have changed a value, and save again.'
      const again = kind === 'delete' ? 'Delete it again if you still want to.' : choose
      return { ...posted, status: 412, message: `${changedMeanwhile} ${again}` }
    },
  }
}
