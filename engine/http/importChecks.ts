/** Checks the rows of an import, some at a time: what becomes of each, and what is wrong with it. */
import * as errors from '../contract/errors.js'
import type { SentRow } from '../contract/importRows.js'
import { changeIssues, conflictIssue, constraintIssue, fieldIssue, missingRowIssue } from '../contract/issues.js'
import type { ImportOperation } from '../contract/operations.js'
import { JsonText, memberTexts } from '../descriptor/jsonText.js'
import { jsonFieldNames } from '../descriptor/kinds/index.js'
import {
  canonicalValue,
  currentStamps,
  type Field,
  idField,
  type Registry,
  type Resource,
  type RowValues,
  updatableFields,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { valueSchema } from '../descriptor/valueRules.js'
import { inTurns } from '../process/batchPerTick.js'
import { digestSet } from '../process/digestSet.js'
import { rowTag } from '../storage/sql.js'
import type { Table } from '../storage/storage.js'
import type { Import, ImportedRow, RowConflict } from '../storage/writeData.js'

/** How many issues are kept: those of the checks come in order of the rows, and conflicts after them. */
const maxKept = 20_000

/** How many rows are matched at once: each stored one may have a megabyte, and all of them reach this thread at once. */
const maxMatched = 100

/** The issues of the request, such as those of its headers, and of all rows; the first are shown. */
export const issueList = (ofRequest: readonly errors.Issue[] = []) => {
  const first: (errors.Issue & { readonly row: number })[] = []
  let total = ofRequest.length
  return {
    add(row: number, line: number | undefined, issues: readonly errors.Issue[]): void {
      total += issues.length
      for (const issue of first.length < maxKept ? issues : []) {
        const [place, ...rest] = issue.loc
        first.push({ ...issue, loc: [place as string, row, ...rest], ...(line !== undefined && { line }), row })
      }
    },
    /** Those of the first rows. */
    get shown(): errors.Issue[] {
      const sorted = first.toSorted((a, b) => a.row - b.row).slice(0, errors.maxIssues)
      return [...ofRequest, ...sorted.map(({ row: _, ...issue }) => issue)]
    },
    get total(): number {
      return total
    },
  }
}

export type Issues = ReturnType<typeof issueList>

/** Finds unique values that an earlier row has already. */
const duplicateFinder = (resource: Resource) => {
  const unique = resource.fields.filter((field) => field.unique || (field.name === 'id' && !field.managed))
  const digestsByField = new Map(unique.map(({ name }) => [name, digestSet()]))
  return (row: RowValues): string[] =>
    unique.flatMap(({ name, unique: within = [] }) => {
      const values = [name, ...within].map((one) => row[one] ?? null)
      if (values.includes(null)) return []
      return digestsByField.get(name)?.add(JSON.stringify(values)) ? [] : [name]
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

/** Adds the conflicts that the database has found; `lines` are those of the rows, the first of which has the place `from`. */
export const addConflicts = (
  registry: Registry,
  resource: Resource,
  issues: Issues,
  conflicts: readonly RowConflict[],
  rows: readonly ImportedRow[],
  lines: readonly (number | undefined)[],
  from = 0,
): void => {
  for (const { row, ...conflict } of conflicts) {
    const imported = rows[row]
    const values = imported && 'values' in imported ? imported.values : {}
    const issue =
      'reason' in conflict
        ? constraintIssue(resource, conflict, values)
        : conflictIssue(registry, resource, conflict.type, conflict.field, values)
    issues.add(from + row, lines[row], [issue])
  }
}

/** The row that the database refuses, found by halves that are stored and undone; none if no row is refused alone. */
export const findRefused = async (
  table: Table,
  rows: readonly ImportedRow[],
  created: Import['created'],
): Promise<RowConflict[]> => {
  const dryRun = (from: number, to: number) => table.import({ rows: rows.slice(from, to), mode: 'dryRun', created })
  let [from, to] = [0, rows.length]
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if ('refused' in (await dryRun(from, middle))) to = middle
    else from = middle
  }
  const outcome = await dryRun(from, to)
  return 'refused' in outcome ? [{ ...outcome.refused, row: from }] : []
}

/** The fields that the rows of an import may have. */
export const importedFields = (
  resource: Resource,
  match: string | undefined,
  hidden: readonly string[] = [],
): Map<string, Field> => {
  const fields = [...writableFields(resource), ...updatableFields(resource)]
  const matched = resource.fields.filter(({ name }) => name === match)
  const visibleFields = [...fields, ...matched].filter(({ name }) => !hidden.includes(name))
  return new Map(visibleFields.map((field) => [field.name, field]))
}

/** The ids of new rows to which rows of the same import may refer; those that the service assigns are not known to clients. */
export const createdIds = (resource: Resource, rows: Iterable<SentRow>, ids = digestSet()): Import['created'] => {
  const isReferenced = resource.fields.some(({ references }) => references === resource.path)
  if (!isReferenced || idField(resource).managed) return ids
  for (const {
    body: { id },
  } of rows)
    if (typeof id === 'string') ids.add(id)
  return ids
}

const withoutMembers = (body: SentRow['body'], names: readonly string[]): SentRow['body'] =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

/** Makes the function that checks rows; it remembers the values of those before, which must differ. */
export const importChecker = (
  registry: Registry,
  table: Table,
  {
    resource,
    readCreate,
    readUpdate,
    readOnly = [],
  }: Pick<ImportOperation, 'resource' | 'readCreate' | 'readUpdate'> & {
    /** The fields that the caller may not set. */
    readonly readOnly?: readonly string[]
  },
  matchName: string | undefined,
) => {
  const isAssigned = idField(resource).managed !== undefined
  const jsonNames = jsonFieldNames(resource.fields)

  /** The value by which a row is found, or what is wrong with it. */
  const matchValue = (field: Field, { body }: SentRow): Matched => {
    const value = (body[field.name] ?? null) as Value
    const [issue] = valueSchema(field).safeParse(value ?? undefined).error?.issues ?? []
    return issue
      ? { key: null, issues: [fieldIssue(field, value, issue, false)] }
      : { key: canonicalValue(field, value), issues: [] }
  }

  const readExisting = async (field: Field, values: readonly Value[]): Promise<Map<string, Existing>> => {
    const pause = inTurns()
    const existing = new Map<string, Existing>()
    for (const body of await table.rowsWith(field.name, values)) {
      await pause()
      const row = JSON.parse(String(body)) as RowValues
      existing.set(String(row[field.name]), { body, row })
    }
    return existing
  }

  const preset = resource.fields.filter(({ references, default: value, managed }) => references && (value ?? managed))
  const created = ({ body, source, empty }: SentRow): Checked => {
    // An empty cell is not sent where it may not be.
    const left = empty.filter((name) => readOnly.includes(name))
    const sent = left.length > 0 ? withoutMembers(body, left) : body
    const { values, issues } = readCreate(sent, source)
    const isSent = (name: string) => Object.hasOwn(body, name) && !empty.includes(name)
    const unsent = preset.map(({ name }) => name).filter((name) => !isSent(name))
    return { row: { kind: 'insert', values, unsent }, final: values, issues }
  }

  const changed = (
    { body, source, empty }: SentRow,
    match: string,
    { body: stored, row: before }: Existing,
  ): Checked => {
    const { values, issues } = readUpdate?.(withoutMembers(body, [match, ...empty]), source) ?? {
      values: {},
      issues: [],
    }
    const isSecret = (name: string) => resource.fields.some((field) => field.name === name && field.redacted)
    const texts = jsonNames.length > 0 ? memberTexts(String(stored)) : undefined
    // The digits of numbers count, which a parsed value has lost.
    const isChange = ([name, value]: [string, Value]) =>
      value instanceof JsonText
        ? value.text !== texts?.get(name)
        : isSecret(name) || JSON.stringify(value) !== JSON.stringify(before[name] ?? null)
    const changes: RowValues = Object.fromEntries(Object.entries(values).filter(isChange))
    const stamps = currentStamps(resource)
    const knownRow = { id: String(before['id']), tag: rowTag(stored) }
    return {
      row:
        Object.keys(changes).length === 0
          ? { kind: 'keep', ...knownRow }
          : { kind: 'update', ...knownRow, values: changes, stamps },
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

  const match = resource.fields.find(({ name }) => name === matchName)
  const findDuplicates = duplicateFinder(resource)
  const matched = digestSet()

  /** Checks some rows, the first of which has this place. */
  const checkRows = async (sentRows: readonly SentRow[], issues: Issues, from: number): Promise<ImportedRow[]> => {
    const pause = inTurns()
    const keys: Matched[] = []
    for (const row of sentRows) {
      await pause()
      keys.push(match && row.issues.length === 0 ? matchValue(match, row) : { key: null, issues: [] })
    }
    const existing =
      match &&
      (await readExisting(
        match,
        keys.map(({ key }) => key).filter((key) => key !== null),
      ))
    const rows: ImportedRow[] = []
    for (const [n, row] of sentRows.entries()) {
      await pause()
      const { key, issues: keyIssues } = keys[n] as Matched
      const rowIssues = [...row.issues, ...keyIssues]
      const checked =
        rowIssues.length > 0 ? { ...invalid, issues: rowIssues } : checkRow(row, match, key, existing?.get(String(key)))
      const isTwice = match !== undefined && key !== null && !matched.add(String(key))
      const duplicates = findDuplicates(checked.final).filter((name) => name !== match?.name)
      const conflicts = [...(isTwice ? [match.name] : []), ...duplicates]
      issues.add(from + n, row.line, [
        ...checked.issues,
        ...conflicts.map((name) => conflictIssue(registry, resource, 'unique', name, checked.final)),
      ])
      rows.push(checked.row)
    }
    return rows
  }

  /** Checks the next rows, the first of which has this place. */
  return async (sentRows: readonly SentRow[], issues: Issues, from = 0): Promise<ImportedRow[]> => {
    const rows: ImportedRow[] = []
    for (let n = 0; n < sentRows.length; n += maxMatched)
      rows.push(...(await checkRows(sentRows.slice(n, n + maxMatched), issues, from + n)))
    return rows
  }
}
