/** Checks the files that the import forms of the explorer send, and stores their rows. */
import * as errors from '../contract/errors.js'
import type { ImportType } from '../contract/importRows.js'
import type { ImportOperation } from '../contract/operations.js'
import { fileFormLimit, importLimit } from '../contract/rowBody.js'
import { isAllowed } from '../descriptor/access.js'
import type { ImportCounts } from '../explorer/controlTexts.js'
import { importMessage, unreadFields } from '../explorer/importPage.js'
import { importPreview } from '../explorer/importPreview.js'
import { pageUrl } from '../explorer/links.js'
import { nextTurn } from '../process/batchPerTick.js'
import type { FormBody } from './formBody.js'
import { type FormHandler, type FormRequest, issuesIn } from './forms.js'
import { importer, importQueryReader } from './import.js'
import { seenResource } from './rowForms.js'
import type { Service } from './serviceParts.js'
import { replayed } from './write.js'

/** The most characters of the names of columns and of whatever else is not rows. */
const maxNames = 64 * 1024

/** The rows as UTF-8; spreadsheets save UTF-16 too. */
const inUtf8 = (bytes: Buffer): Buffer => {
  const mark = bytes.toString('latin1', 0, 2)
  const encoding = { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' }[mark]
  return encoding === undefined ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes))
}

/** How a text begins says what it is, also if its file is called otherwise. */
const typeOf = (bytes: Buffer): ImportType => {
  const [sign = ''] = /\S/.exec(bytes.toString('utf8', 0, 1024).replace(/^\uFEFF/, '')) ?? []
  return sign === '[' ? 'application/json' : sign === '{' ? 'application/x-ndjson' : 'text/csv'
}

/** The rows that were pasted, or those of the file; undefined if there are none. */
const rowsIn = ({ texts, files }: FormBody): { type: ImportType; bytes: Buffer } | undefined => {
  const pasted = texts.get('text') ?? ''
  const sentBytes = !/\S/.test(pasted) ? files.get('file') : Buffer.from(pasted)
  if (sentBytes === undefined || sentBytes.length === 0) return undefined
  const bytes = inUtf8(sentBytes)
  if (bytes.length > importLimit) throw errors.payloadTooLarge(importLimit)
  return { type: typeOf(bytes), bytes }
}

export const createImportForm = (service: Service, operation: ImportOperation): FormHandler => {
  const { resource } = operation
  const { read, store } = importer(service, operation)
  const readQuery = importQueryReader(service, operation)

  const queryOf = ({ visitor, permit, posted: { texts } }: FormRequest) => {
    const match = texts.get('match') ?? ''
    const unread = unreadFields(seenResource(visitor, resource)).filter((name) => name !== match)
    const query = new URLSearchParams({ dryRun: String(texts.get('form.step') !== 'store') })
    for (const name of [...unread, ...texts.getAll('ignore')]) query.append('ignore', name)
    if (match !== '') query.set('match', match)
    return readQuery(permit.rights, String(query))
  }

  return {
    limit: fileFormLimit,
    typedLimit: maxNames,
    isAllowed: ({ rights }) => isAllowed(rights.of(resource).create),
    async store(request) {
      const { permit, posted, body, idempotencyKey } = request
      const { rights } = permit
      const query = queryOf(request)
      const sentRows = rowsIn(body)
      const noRows = { field: 'file', message: 'Choose a file, or paste rows.' }
      if (!sentRows) return { ...posted, status: 422, issues: [noRows] }
      await nextTurn()
      const rows = await read(rights, { ...sentRows, query })
      await nextTurn()
      const key = query.dryRun ? undefined : idempotencyKey
      const earlier = key && (await service.storage.table(resource).earlierWrite(key.key))
      const stored = earlier && key ? replayed(earlier, key) : await store(permit, query, rows, key)
      const counts = JSON.parse(String(stored.body)) as ImportCounts
      if (!query.dryRun) return { next: pageUrl(resource), message: importMessage(resource, counts) }
      await nextTurn()
      const preview = await importPreview(resource, sentRows.type, sentRows.bytes, [])
      return { ...posted, checked: { issues: [], total: 0, counts, preview } }
    },
    async explain({ body, posted }, error) {
      const { status, message } = error
      const issues = issuesIn(error)
      const sentRows = issues.length > 0 ? rowsIn(body) : undefined
      if (!sentRows) return { ...posted, status, message }
      await nextTurn()
      const { details } = (error.body as { error: { details?: { total?: number } } }).error
      const preview = await importPreview(resource, sentRows.type, sentRows.bytes, issues)
      return { ...posted, status, checked: { issues, total: details?.total ?? issues.length, preview } }
    },
  }
}
