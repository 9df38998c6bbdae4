/** Stores the forms that change or delete many rows, all or none. */
import * as errors from '../contract/errors.js'
import { arrayElements } from '../contract/importRows.js'
import { isAllowed } from '../descriptor/access.js'
import { memberTexts } from '../descriptor/jsonText.js'
import type { RowValues } from '../descriptor/registry.js'
import { postedText } from '../explorer/controlTexts.js'
import { type Edited, undoButton } from '../explorer/done.js'
import { readControl } from '../explorer/forms.js'
import { html } from '../explorer/html.js'
import { loadRows, manyField, rowCount, sentRows, tableOf } from '../explorer/manyPages.js'
import { rowLabel } from '../explorer/names.js'
import { rowTag } from '../storage/sql.js'
import type { FormHandler } from './forms.js'
import { explainIssues, offeredResource, seenResource, type Writer } from './rowForms.js'
import type { Service } from './serviceParts.js'
import { storeWrites } from './transact.js'
import { replayed } from './write.js'
import type { SentWrite } from './writePlan.js'

/** The rows of the response of a batch, as they are stored now. */
const storedRows = (body: Buffer): string[] =>
  [...arrayElements(String(body), '{"results":['.length, /^\}$/, () => errors.internalError())].map(
    (result) => memberTexts(result).get('body') ?? '{}',
  )

export const createManyForm = (
  service: Service,
  { resource, PATCH: readBody }: Writer,
  kind: 'update' | 'delete',
): FormHandler => {
  const { storage } = service
  return {
    isAllowed: ({ rights }) => isAllowed(rights.of(resource)[kind]),
    async store({ ctx, visitor, permit, posted, idempotencyKey }) {
      const seen = offeredResource(visitor, resource, kind)
      const rows = sentRows(resource, posted)
      const field = manyField(seen, ctx.querystring)
      const done = `${rowCount(seen, rows.length)} ${kind === 'delete' ? 'deleted' : 'saved'}.`
      const next = tableOf(seen, ctx.querystring)
      const value = kind === 'update' ? await readControl(visitor, field, postedText(posted, field.name) ?? '') : ''
      if (typeof value !== 'string') throw errors.bodyInvalid([value])
      const source = `{${JSON.stringify(field?.name)}:${value}}`
      const change = {
        method: 'PATCH',
        resource,
        readBody,
        body: kind === 'update' && JSON.parse(source),
        source,
      } as const
      const before =
        kind === 'update'
          ? await loadRows(
              visitor,
              seen,
              rows.map(([id]) => id),
            )
          : []
      const earlier = idempotencyKey && (await storage.table(resource).earlierWrite(idempotencyKey.key))
      if (earlier && idempotencyKey) {
        replayed(earlier, idempotencyKey)
        return { next, message: done }
      }
      const writes = rows.map(([id, tag]) => (): SentWrite => {
        const ifMatch = [tag]
        return kind === 'update' ? { ...change, id, ifMatch } : { method: 'DELETE', resource, id, ifMatch }
      })
      const { body } = await storeWrites(service, writes, { permit, idempotencyKey })
      if (kind === 'delete') return { next, message: done }
      const changes = storedRows(body).flatMap((text, n): Edited[] => {
        const [id = ''] = rows[n] ?? []
        const row = before.find((one) => one.id === id)?.row
        const after = JSON.parse(text) as RowValues
        return row ? [{ id, tag: rowTag(Buffer.from(text)), before: row, after }] : []
      })
      const undo = changes.length === rows.length && undoButton(seen, [field], changes)
      return { next, message: html`${done}${undo}` }
    },
    async explain(request, error) {
      const { visitor, posted } = request
      const seen = seenResource(visitor, resource)
      const { operation } = (error.body as { error?: { details?: { operation?: number } } }).error?.details ?? {}
      const [id] = operation === undefined ? [] : (sentRows(resource, posted)[operation] ?? [])
      const [row] = id === undefined ? [] : await loadRows(visitor, seen, [id])
      const label = row ? rowLabel(seen, row.row) : id === undefined ? undefined : `#${id}`
      const done = kind === 'delete' ? 'deleted' : 'saved'
      if (error.status !== 412)
        return explainIssues(request, seen, kind, error, label === undefined ? '' : `${label}: `)
      return { ...posted, status: 412, message: `Somebody else has changed ${label} meanwhile; nothing was ${done}.` }
    },
  }
}
