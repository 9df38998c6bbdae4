/** The handler of an import: reads the rows, checks all of them, and stores all or none. */
import * as errors from '../contract/errors.js'
import { keyReused } from '../contract/headers.js'
import { forbiddenParameters, withoutHidden } from '../contract/hiddenFields.js'
import { importQueryParser, maxImportRows } from '../contract/importParameters.js'
import { importTypes, rowReader, type SentRow } from '../contract/importRows.js'
import { constraintIssue } from '../contract/issues.js'
import type { ImportOperation } from '../contract/operations.js'
import { importLimit } from '../contract/rowBody.js'
import { isAllowed } from '../descriptor/access.js'
import { inTurns } from '../process/batchPerTick.js'
import type { Table } from '../storage/storage.js'
import type { ImportedRow, ImportOutcome } from '../storage/writeData.js'
import { idempotencyKeyOf, readBytes, rejectKey } from './body.js'
import { resourceGuard } from './callers.js'
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
import { earlierWrite, replayed, sendStored, untilStored } from './write.js'

export const importRows = (service: Service, operation: ImportOperation): Handler => {
  const { storage, registry } = service
  const { resource } = operation
  const guard = resourceGuard(service, resource)
  const parseQuery = importQueryParser(resource)

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

  return async (ctx) => {
    const { caller, rights } = await guard.write(ctx, 'create')
    rejectKey(ctx, resource)
    const { match, ignore, dryRun } = parseQuery(ctx.querystring)
    const { hidden, update } = rights.of(resource)
    if (match !== undefined && !isAllowed(update)) throw errors.forbidden()
    forbiddenParameters(registry, resource, rights, ctx.querystring, true)
    const table = storage.table(resource, [], rights)
    const pause = inTurns()
    const { type, bytes } = await readBytes(ctx, importTypes, importLimit)
    await pause()
    const names = { allowed: importedFields(resource, match, hidden), ignored: new Set(ignore) }
    const readers = {
      resource,
      readCreate: withoutHidden(operation.readCreate, hidden),
      ...(operation.readUpdate && { readUpdate: withoutHidden(operation.readUpdate, hidden) }),
    }
    const sent: SentRow[] = []
    for (const row of rowReader(resource, type, names)(bytes)) {
      if (sent.push(row) > maxImportRows) throw errors.tooManyRows(maxImportRows)
      await pause()
    }
    const keyIssues: errors.Issue[] = []
    const idempotencyKey = dryRun ? undefined : idempotencyKeyOf(ctx, caller, [ctx.querystring, type, bytes], keyIssues)
    const earlier = idempotencyKey && (await earlierWrite(ctx, caller, storage, resource))
    if (earlier && keyIssues.length === 0) return sendStored(ctx, 201, replayed(earlier, idempotencyKey))
    const created = createdIds(resource, sent)
    let before = ''
    const stored = await untilStored(`rows of ${resource.path}`, async (isLast) => {
      const issues = issueList(keyIssues)
      const rows = await importChecker(registry, table, readers, match)(sent, issues)
      const mode = issues.total > 0 ? 'check' : dryRun ? 'dryRun' : 'store'
      const outcome = await table.import({ rows, mode, created, idempotencyKey })
      // A row that is matched has been created meanwhile: now it is changed.
      const matched =
        'conflicts' in outcome
          ? outcome.conflicts.filter((one) => 'field' in one && one.field === match && rows[one.row]?.kind === 'insert')
          : []
      const found = matched.map(({ row }) => row).join()
      // If the same rows are found again, the caller may not read them.
      const isMatchedNow = matched.length > 0 && found !== before
      before = found
      if ('isStale' in outcome || (isMatchedNow && issues.total === 0 && !isLast)) return undefined
      return finished(table, outcome, sent, rows, issues)
    })
    sendStored(ctx, dryRun ? 200 : 201, stored)
  }
}
