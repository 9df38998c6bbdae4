/** The handler of an import: reads the rows, checks all of them, and stores all or none. */
import * as errors from '../contract/errors.js'
import { keyReused, replayedHeader } from '../contract/headers.js'
import { importQueryParser } from '../contract/importParameters.js'
import { importTypes, readRows, type SentRow } from '../contract/importRows.js'
import { changeIssues, conflictIssue, constraintIssue, fieldIssue, missingRowIssue } from '../contract/issues.js'
import type { ImportOperation } from '../contract/operations.js'
import { importLimit } from '../contract/rowBody.js'
import {
  canonicalValue,
  currentStamps,
  type Field,
  idField,
  type Resource,
  type RowValues,
  updatableFields,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { valueSchema } from '../descriptor/valueRules.js'
import { inTurns } from '../process/batchPerTick.js'
import type { ImportedRow, ImportOutcome } from '../storage/import.js'
import { Unavailable } from '../storage/storage.js'
import { rowTag } from '../storage/write.js'
import { idempotencyKeyOf, readBytes, rejectKey, writeGuard } from './body.js'
import { jsonType } from './conditional.js'
import type { Handler, Service } from './handlers.js'

const maxRows = 10_000

/** How often an import is repeated because a row that it changes has changed meanwhile. */
const maxAttempts = 20

/** The issues of all rows, of which the response has the first. */
const issueList = (rows: readonly SentRow[]) => {
  const first: (errors.Issue & { readonly row: number })[] = []
  let total = 0
  return {
    add(row: number, issues: readonly errors.Issue[]): void {
      const line = rows[row]?.line
      total += issues.length
      for (const issue of issues) {
        const [place, ...rest] = issue.loc
        first.push({ ...issue, loc: [place as string, row, ...rest], ...(line !== undefined && { line }), row })
      }
    },
    /** Those of the first rows. */
    get shown(): errors.Issue[] {
      const sorted = first.toSorted((a, b) => a.row - b.row)
      return sorted.slice(0, errors.maxIssues).map(({ row: _, ...issue }) => issue)
    },
    get total(): number {
      return total
    },
  }
}

type Issues = ReturnType<typeof issueList>

/** Finds unique values that an earlier row has already. */
const duplicateFinder = (resource: Resource) => {
  const unique = resource.fields.filter((field) => field.unique || (field.name === 'id' && !field.managed))
  const seen = new Map(unique.map(({ name }) => [name, new Set<string>()]))
  return (row: RowValues): string[] =>
    unique.flatMap(({ name, unique: within = [] }) => {
      const values = [name, ...within].map((one) => row[one] ?? null)
      if (values.includes(null)) return []
      const key = JSON.stringify(values)
      const known = seen.get(name) as Set<string>
      const isKnown = known.has(key)
      known.add(key)
      return isKnown ? [name] : []
    })
}

/** The value by which a row is matched with a stored one; null if it has none. */
interface Matched {
  readonly key: Value
  readonly issues: readonly errors.Issue[]
}

/** A stored row. */
interface Existing {
  readonly body: Buffer
  readonly row: RowValues
}

/** What becomes of a row, its values then, and what is wrong with it. */
interface Checked {
  readonly row: ImportedRow
  readonly final: RowValues
  readonly issues: readonly errors.Issue[]
}

const invalid: Omit<Checked, 'issues'> = { row: { kind: 'insert', values: {} }, final: {} }

export const importRows = (service: Service, operation: ImportOperation): Handler => {
  const { storage, registry, token } = service
  const { resource, readCreate, readUpdate } = operation
  const table = storage.table(resource)
  const checkToken = writeGuard(token)
  const parseQuery = importQueryParser(resource)
  const isAssigned = idField(resource).managed !== undefined

  /** The value by which a row is found, or what is wrong with it. */
  const matchValue = (field: Field, { body }: SentRow): Matched => {
    const value = (body[field.name] ?? null) as Value
    const [issue] = valueSchema(field).safeParse(value ?? undefined).error?.issues ?? []
    return issue
      ? { key: null, issues: [fieldIssue(field, value, issue, false)] }
      : { key: canonicalValue(field, value), issues: [] }
  }

  const readExisting = async (field: Field, values: readonly Value[]): Promise<Map<string, Existing>> => {
    const found = await table.rowsWith(field.name, values)
    return new Map(
      found.map((body) => {
        const row = JSON.parse(String(body)) as RowValues
        return [String(row[field.name]), { body, row }]
      }),
    )
  }

  const created = ({ body, source }: SentRow): Checked => {
    const { values, issues } = readCreate(body, source)
    return { row: { kind: 'insert', values }, final: values, issues }
  }

  const changed = (
    { body, source, empty }: SentRow,
    match: string,
    { body: stored, row: before }: Existing,
  ): Checked => {
    const sent = Object.entries(body).filter(([name]) => name !== match && !empty.includes(name))
    const { values, issues } = readUpdate?.(Object.fromEntries(sent), source) ?? { values: {}, issues: [] }
    const isSecret = (name: string) => resource.fields.some((field) => field.name === name && field.redacted)
    const isChange = ([name, value]: [string, Value]) =>
      isSecret(name) || JSON.stringify(value) !== JSON.stringify(before[name] ?? null)
    const changes: RowValues = Object.fromEntries(Object.entries(values).filter(isChange))
    const stamps = currentStamps(resource)
    const known = { id: String(before['id']), tag: rowTag(stored) }
    return {
      row:
        Object.keys(changes).length === 0
          ? { kind: 'keep', ...known }
          : { kind: 'update', ...known, values: changes, stamps },
      final: { ...before, ...changes },
      issues: [...issues, ...changeIssues(resource, before, changes, stamps)],
    }
  }

  /** What becomes of a row; `key` is the value by which it is matched. */
  const checkRow = (row: SentRow, match: Field | undefined, key: Value, existing: Existing | undefined): Checked => {
    if (match && existing) return changed(row, match.name, existing)
    if (match?.name === 'id' && isAssigned) return { ...invalid, issues: [missingRowIssue(resource, key)] }
    return created(row)
  }

  const checkRows = async (sent: readonly SentRow[], matchName: string | undefined, issues: Issues) => {
    const pause = inTurns()
    const match = resource.fields.find(({ name }) => name === matchName)
    const keys = sent.map((row) =>
      match && row.issues.length === 0 ? matchValue(match, row) : { key: null, issues: [] },
    )
    const existing =
      match &&
      (await readExisting(
        match,
        keys.map(({ key }) => key).filter((key) => key !== null),
      ))
    const findDuplicates = duplicateFinder(resource)
    const matched = new Set<string>()
    const rows: ImportedRow[] = []
    for (const [n, row] of sent.entries()) {
      await pause()
      const { key, issues: keyIssues } = keys[n] as Matched
      const wrong = [...row.issues, ...keyIssues]
      const checked =
        wrong.length > 0 ? { ...invalid, issues: wrong } : checkRow(row, match, key, existing?.get(String(key)))
      const isTwice = match !== undefined && key !== null && matched.has(String(key))
      matched.add(String(key))
      const duplicates = findDuplicates(checked.final).filter((name) => name !== match?.name)
      const conflicts = [...(isTwice ? [match.name] : []), ...duplicates]
      issues.add(n, [
        ...checked.issues,
        ...conflicts.map((name) => conflictIssue(registry, resource, 'unique', name, checked.final)),
      ])
      rows.push(checked.row)
    }
    return rows
  }

  const finished = (
    outcome: Exclude<ImportOutcome, { isStale: true }>,
    rows: readonly ImportedRow[],
    issues: Issues,
  ) => {
    if ('body' in outcome) return outcome
    if ('mismatch' in outcome) throw errors.bodyInvalid([keyReused()])
    if ('refused' in outcome) throw errors.bodyInvalid([constraintIssue(resource, outcome.refused, {})])
    for (const { row, type, field } of outcome.conflicts) {
      const imported = rows[row]
      const values = imported && 'values' in imported ? imported.values : {}
      issues.add(row, [conflictIssue(registry, resource, type, field, values)])
    }
    throw errors.bodyInvalid(issues.shown, issues.total)
  }

  return async (ctx) => {
    checkToken(ctx.get('Authorization'))
    rejectKey(ctx, resource)
    const { match, ignore, dryRun } = parseQuery(ctx.querystring)
    const { type, bytes } = await readBytes(ctx, importTypes, importLimit)
    const allowed = new Map([...writableFields(resource), ...updatableFields(resource)].map((one) => [one.name, one]))
    const matchField = resource.fields.find(({ name }) => name === match)
    if (matchField) allowed.set(matchField.name, matchField)
    const pause = inTurns()
    const sent: SentRow[] = []
    for (const row of readRows(resource, type, bytes, { allowed, ignored: new Set(ignore) })) {
      if (sent.push(row) > maxRows) throw errors.tooManyRows(maxRows)
      await pause()
    }
    const keyIssues: errors.Issue[] = []
    const idempotencyKey = dryRun ? undefined : idempotencyKeyOf(ctx, [ctx.querystring, type, bytes], keyIssues)
    if (keyIssues.length > 0) throw errors.bodyInvalid(keyIssues)
    // A retry has the outcome of the first request, whatever the rows are now.
    const isRetry = idempotencyKey !== undefined && (await table.hasKey(idempotencyKey.key))
    for (let left = maxAttempts; left > 0; left--) {
      const issues = issueList(sent)
      const rows = isRetry ? [] : await checkRows(sent, match, issues)
      const mode = issues.total > 0 ? 'check' : dryRun ? 'dryRun' : 'store'
      const outcome = await table.import({ rows, mode, idempotencyKey })
      if ('isStale' in outcome) continue
      const { body, replayed } = finished(outcome, rows, issues)
      ctx.status = dryRun ? 200 : 201
      ctx.state.usedDatabase = true
      if (replayed) ctx.set(replayedHeader, 'true')
      ctx.set('Content-Type', jsonType)
      ctx.body = body
      return
    }
    throw new Unavailable(`rows of ${resource.path} that an import changes are changed too often`)
  }
}
