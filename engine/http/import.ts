/** The handler of an import: reads the rows, checks all of them, and stores all or none. */
import * as errors from '../contract/errors.js'
import { keyReused } from '../contract/headers.js'
import { allowedBody, forbiddenParameters } from '../contract/hiddenFields.js'
import { type ImportQuery, importQueryParser, maxImportRows } from '../contract/importParameters.js'
import { type ImportType, importTypes, rowReader, type SentRow } from '../contract/importRows.js'
import { constraintIssue } from '../contract/issues.js'
import type { ImportOperation } from '../contract/operations.js'
import { importLimit } from '../contract/rowBody.js'
import { isAllowed, type Rights } from '../descriptor/access.js'
import { inTurns } from '../process/batchPerTick.js'
import type { Table, Tables } from '../storage/storage.js'
import type { IdempotencyKey, Import, ImportedRow, ImportOutcome } from '../storage/writeData.js'
import { idempotencyKeyOf, readBytes, rejectKey } from './body.js'
import { type Permit, resourceGuard } from './callers.js'
import {
  addConflicts,
  createdIds,
  findRefused,
  type Issues,
  importChecker,
  importedFields,
  issueList,
} from './importChecks.js'
import type { Handler, Service } from './serviceParts.js'
import { hasHooks, importWithin, transactImport } from './transact.js'
import { earlierWrite, replayed, type Stored, sendStored, untilStored } from './write.js'

/** Rows that are to be imported, as they were sent. */
export interface SentImport {
  readonly type: ImportType
  readonly bytes: Buffer
  readonly query: ImportQuery
}

/** Makes the functions that read the rows of an import, and that check and store them for somebody. */
export const importer = (service: Service, operation: ImportOperation) => {
  const { registry } = service
  const { resource } = operation

  const finished = async (
    table: Table,
    outcome: Exclude<ImportOutcome, { isStale: true }>,
    sent: readonly SentRow[],
    rows: readonly ImportedRow[],
    issues: Issues,
  ) => {
    if ('body' in outcome) return outcome
    if ('mismatch' in outcome) throw errors.bodyInvalid([keyReused()])
    if ('isForbidden' in outcome) throw errors.rowForbidden()
    const isRefused = 'refused' in outcome
    const conflicts = isRefused ? await findRefused(table, rows, createdIds(resource, sent)) : outcome.conflicts
    if (isRefused && conflicts.length === 0) throw errors.bodyInvalid([constraintIssue(resource, outcome.refused, {})])
    const lines = sent.map(({ line }) => line)
    addConflicts(registry, resource, issues, conflicts, rows, lines)
    throw errors.bodyInvalid(issues.shown, issues.total)
  }

  const storeIn = (
    tables: Tables,
    rights: Rights,
    { match, dryRun }: ImportQuery,
    sent: readonly SentRow[],
    keyIssues: readonly errors.Issue[],
    importRows: (table: Table, given: Import) => Promise<ImportOutcome>,
  ): Promise<Stored> => {
    const table = tables.table(resource, [], rights)
    const allowed = rights.of(resource)
    const { readCreate, readUpdate } = operation
    const readers = {
      resource,
      readCreate: allowedBody(readCreate, resource, allowed),
      ...(readUpdate && { readUpdate: allowedBody(readUpdate, resource, allowed) }),
      readOnly: allowed.readOnly,
    }
    const created = createdIds(resource, sent)
    let before = ''
    return untilStored(`rows of ${resource.path}`, async (isLast) => {
      const issues = issueList(keyIssues)
      const rows = await importChecker(registry, table, readers, match)(sent, issues)
      const mode = issues.total > 0 ? 'check' : dryRun ? 'dryRun' : 'store'
      const outcome = await importRows(table, { rows, mode, created })
      // A row that is matched has been created meanwhile: now it is changed.
      const matched =
        'conflicts' in outcome
          ? outcome.conflicts.filter((one) => 'field' in one && one.field === match && rows[one.row]?.kind === 'insert')
          : []
      const matchedRows = matched.map(({ row }) => row).join()
      // If the same rows are found again, the caller may not read them.
      const isMatchedNow = matched.length > 0 && matchedRows !== before
      before = matchedRows
      if ('isStale' in outcome || (isMatchedNow && issues.total === 0 && !isLast)) return undefined
      return finished(table, outcome, sent, rows, issues)
    })
  }

  return {
    async read(rights: Rights, { type, bytes, query: { match, ignore } }: SentImport): Promise<SentRow[]> {
      const pause = inTurns()
      const { hidden, readOnly } = rights.of(resource)
      const names = {
        allowed: importedFields(resource, match, hidden),
        ignored: new Set(ignore),
        readOnly: new Set(readOnly.filter((name) => name !== match)),
      }
      const rows: SentRow[] = []
      for (const row of rowReader(resource, type, names)(bytes)) {
        if (rows.push(row) > maxImportRows) throw errors.tooManyRows(maxImportRows)
        await pause()
      }
      return rows
    },

    store(
      permit: Permit,
      query: ImportQuery,
      sent: readonly SentRow[],
      idempotencyKey: IdempotencyKey | undefined,
      keyIssues: readonly errors.Issue[] = [],
    ): Promise<Stored> {
      const { rights } = permit
      if (!hasHooks(service, resource, ['create', 'update']))
        return storeIn(service.storage, rights, query, sent, keyIssues, (table, given) =>
          table.import({ ...given, idempotencyKey, by: permit.caller.name }),
        )
      return transactImport(service, permit, query.dryRun, async (transaction) => {
        const earlier = idempotencyKey && (await transaction.table(resource).earlierWrite(idempotencyKey.key))
        if (earlier && idempotencyKey) return replayed(earlier, idempotencyKey)
        const importRows = (_: Table, given: Import) => importWithin(service, transaction, resource, given, permit)
        const stored = await storeIn(transaction, rights, { ...query, dryRun: false }, sent, keyIssues, importRows)
        if (query.dryRun) {
          const counts = JSON.parse(String(stored.body)) as object
          return { ...stored, body: Buffer.from(JSON.stringify({ ...counts, ids: [] })) }
        }
        if (idempotencyKey) await transaction.storeKey(idempotencyKey, stored.body)
        return stored
      })
    },
  }
}

/** Makes the function that reads the parameters of an import, as far as somebody may use them. */
export const importQueryReader = ({ registry }: Service, { resource }: ImportOperation) => {
  const parse = importQueryParser(resource)
  return (rights: Rights, querystring: string): ImportQuery => {
    const query = parse(querystring)
    if (query.match !== undefined && !isAllowed(rights.of(resource).update)) throw errors.forbidden()
    forbiddenParameters(registry, resource, rights, querystring, true)
    return query
  }
}

export const importRows = (service: Service, operation: ImportOperation): Handler => {
  const { storage } = service
  const { resource } = operation
  const guard = resourceGuard(service, resource)
  const readQuery = importQueryReader(service, operation)
  const { read, store } = importer(service, operation)

  return async (ctx) => {
    const permit = await guard.write(ctx, 'create')
    const { caller, rights } = permit
    rejectKey(ctx, resource)
    const query = readQuery(rights, ctx.querystring)
    const { type, bytes } = await readBytes(ctx, importTypes, importLimit)
    const rows = await read(rights, { type, bytes, query })
    const keyIssues: errors.Issue[] = []
    const { dryRun } = query
    const idempotencyKey = dryRun ? undefined : idempotencyKeyOf(ctx, caller, [ctx.querystring, type, bytes], keyIssues)
    const earlier = idempotencyKey && (await earlierWrite(ctx, caller, storage, resource))
    if (earlier && keyIssues.length === 0) return sendStored(ctx, 201, replayed(earlier, idempotencyKey))
    sendStored(ctx, dryRun ? 200 : 201, await store(permit, query, rows, idempotencyKey, keyIssues))
  }
}
