/** Reads the body of an import: CSV, NDJSON or a JSON array, as the rows that were sent, with what is wrong with their form. */
import { isUtf8 } from 'node:buffer'
import { endOfString, maxJsonBytes } from '../descriptor/jsonText.js'
import { isJson } from '../descriptor/kinds/index.js'
import { didYouMean } from '../descriptor/nearest.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { jsonNoun, shorten, Violation } from '../descriptor/violations.js'
import { jsonErrorPlace } from '../process/jsonError.js'
import { bodyInvalid, type Issue, maxIssues } from './errors.js'
import { bodyIssue, violationIssue } from './issues.js'
import { hasTooManyValues, maxValuesOf } from './jsonScan.js'
import { type CsvCell, countLines, delimiterIn, readCsv } from './readCsv.js'
import { bodyLimit } from './rowBody.js'
import { textJson } from './textValues.js'

export const importTypes = ['text/csv', 'application/x-ndjson', 'application/json'] as const
export type ImportType = (typeof importTypes)[number]

/** A row as it was sent. */
export interface SentRow {
  /** The line in which it begins, from 1; a row of a JSON array has none. */
  readonly line?: number
  readonly body: Readonly<Record<string, unknown>>
  /** The same as JSON, with the digits of its numbers. */
  readonly source: string
  /** The members whose cells are empty: an update leaves them out. */
  readonly empty: readonly string[]
  /** What is wrong with its form; then nothing else is checked. */
  readonly issues: readonly Issue[]
}

const invalidRow = (issue: Issue, line?: number): SentRow => ({
  ...(line !== undefined && { line }),
  body: {},
  source: '{}',
  empty: [],
  issues: [issue],
})

const isEmpty = ({ text, isQuoted }: CsvCell): boolean => text === '' && !isQuoted

/** A cell as JSON. */
const cellJson = (field: Field, cell: CsvCell): string | Issue => {
  const { text } = cell
  if (isEmpty(cell)) return 'null'
  if (isJson(field) && text.length > maxJsonBytes)
    return violationIssue(field, new Violation('json_too_large', Buffer.byteLength(text), { max_bytes: maxJsonBytes }))
  return textJson(field, text)
}

interface ColumnNames {
  /** The fields that a row may have. */
  readonly allowed: ReadonlyMap<string, Field>
  readonly ignored: ReadonlySet<string>
  /** The fields that the sender may not set: whatever their cells have is refused as such. */
  readonly readOnly?: ReadonlySet<string>
}

/** Throws for names in the first line that no row can have. */
const checkHeader = (
  resource: Resource,
  { cells, line }: { cells: readonly CsvCell[]; line: number },
  names: ColumnNames,
) => {
  const header = cells.map(({ text }) => text)
  const sizeIssue = rowSizeIssue(resource, header.join())
  if (sizeIssue) throw bodyInvalid([{ ...sizeIssue, line }])
  const seenNames = new Set<string>()
  let issueCount = 0
  const issues = header.flatMap((name) => {
    if (names.ignored.has(name)) return []
    const issueAt = (msg: string) => [{ ...bodyIssue('extra_forbidden', msg, name), line }]
    const isTwice = seenNames.has(name)
    seenNames.add(name)
    if (names.allowed.has(name) && !isTwice) return []
    if (++issueCount > maxIssues) return []
    if (isTwice) return issueAt(`The column "${shorten(name)}" is there twice.`)
    if (resource.fields.some((field) => field.name === name))
      return issueAt(`${name} cannot be set; remove the column, or leave it out with ignore=${name}.`)
    return issueAt(`Unknown column "${shorten(name)}"${didYouMean(name, [...names.allowed.keys()]) || '.'}`)
  })
  if (issues.length > 0) throw bodyInvalid(issues)
  return header
}

/** The header of a CSV, and what separates its cells. */
interface CsvForm {
  readonly delimiter: string
  header?: readonly string[]
}

function* csvRows(
  resource: Resource,
  text: string,
  names: ColumnNames,
  form: CsvForm,
  firstLine: number,
): Generator<SentRow> {
  for (const row of readCsv(text, form.delimiter, firstLine)) {
    const { line, cells, error } = row
    const { header } = form
    if (error !== undefined) {
      const issue = bodyIssue('csv_parsing', `The row has ${error}.`)
      if (!header) throw bodyInvalid([{ ...issue, line }])
      yield invalidRow(issue, line)
    } else if (!header) form.header = checkHeader(resource, row, names)
    else if (cells.length !== header.length) {
      const counts = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, but the header has ${header.length}`
      yield invalidRow(bodyIssue('csv_parsing', `The row has ${counts}.`), line)
    } else {
      const members: string[] = []
      const empty: string[] = []
      const issues: Issue[] = []
      for (const [n, name] of header.entries()) {
        const field = names.ignored.has(name) ? undefined : names.allowed.get(name)
        if (!field) continue
        const cell = cells[n] as CsvCell
        const json = cellJson(field, cell)
        if (typeof json !== 'string' && names.readOnly?.has(name)) members.push(`${JSON.stringify(name)}:0`)
        else if (typeof json !== 'string') issues.push(json)
        else members.push(`${JSON.stringify(name)}:${json}`)
        if (isEmpty(cell)) empty.push(name)
      }
      const source = `{${members.join(',')}}`
      const sizeIssue = rowSizeIssue(resource, source)
      yield sizeIssue ? invalidRow(sizeIssue, line) : { line, body: JSON.parse(source), source, empty, issues }
    }
  }
}

/** A row is no larger than one that is created by itself. */
export const rowSizeIssue = (resource: Resource, source: string): Issue | undefined => {
  const bytes = Buffer.from(source.slice(0, bodyLimit + 1))
  if (bytes.length > bodyLimit) return bodyIssue('too_long', `The row has more than ${bodyLimit} bytes.`)
  const maxValues = maxValuesOf(resource)
  return hasTooManyValues(bytes, maxValues)
    ? bodyIssue('too_long', `The row has more than ${maxValues} values.`)
    : undefined
}

/** A row that was sent as JSON. */
const jsonRow = (resource: Resource, source: string, { ignored }: ColumnNames, line?: number): SentRow => {
  const sizeIssue = rowSizeIssue(resource, source)
  if (sizeIssue) return invalidRow(sizeIssue, line)
  let body: unknown
  try {
    body = JSON.parse(source)
  } catch {
    return invalidRow(bodyIssue('json_invalid', `The row is not valid JSON: ${jsonErrorPlace(source)}.`), line)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return invalidRow(bodyIssue('object_type', `The row must be a JSON object, not ${jsonNoun(body)}.`), line)
  for (const name of ignored) delete (body as Record<string, unknown>)[name]
  const row = { body: body as Record<string, unknown>, source, empty: [], issues: [] }
  return line === undefined ? row : { ...row, line }
}

/** Has nothing but the white space of JSON, to which no-break spaces do not belong. */
const blank = /^[ \t\r\n]*$/
const isBlank = (text: string): boolean => blank.test(text)

const whiteSpace = /[ \t\r\n]*/y

function* ndjsonRows(resource: Resource, text: string, names: ColumnNames, firstLine: number): Generator<SentRow> {
  for (let [at, line] = [0, firstLine]; ; line++) {
    // All blank lines at once: there may be millions.
    whiteSpace.lastIndex = at
    whiteSpace.test(text)
    const { lastIndex } = whiteSpace
    if (lastIndex === text.length) return
    const from = text.lastIndexOf('\n', lastIndex) + 1
    line += countLines(text.slice(at, from))
    const end = text.indexOf('\n', lastIndex)
    yield jsonRow(resource, text.slice(from, end === -1 ? undefined : end), names, line)
    if (end === -1) return
    at = end + 1
  }
}

const token = /[[\]{}",]/g

/** The most brackets, commas and texts of one element: more would take a tenth of a second. */
const maxSigns = 500_000

/** The elements of a JSON array that begins before a place, as texts, up to its end; what follows must match. */
export function* arrayElements(
  source: string,
  begin: number,
  end: RegExp,
  createError: (source: string) => Error,
): Generator<string> {
  let [from, level, isFirst, signs] = [begin, 1, true, 0]
  token.lastIndex = from
  for (let match = token.exec(source); match; match = token.exec(source)) {
    const [sign] = match
    const at = match.index
    if (++signs > maxSigns) throw bodyInvalid([bodyIssue('too_long', 'A part of the body has too many values.')])
    if (sign === '"') {
      token.lastIndex = endOfString(source, at)
      if (token.lastIndex === 0) throw createError(source)
      continue
    }
    if (level === 1 && sign === '}') throw createError(source)
    if (level === 1 && (sign === ',' || sign === ']')) {
      const element = source.slice(from, at)
      const next = token.lastIndex
      if (!(isFirst && sign === ']' && isBlank(element))) yield element
      isFirst = false
      signs = 0
      from = at + 1
      // Another generator may have used it meanwhile.
      token.lastIndex = next
    }
    if (sign === '[' || sign === '{') level++
    if (sign === ']' || sign === '}') level--
    if (level === 0) {
      if (!end.test(source.slice(at + 1))) throw createError(source)
      return
    }
  }
  throw createError(source)
}

/** Longer texts are not searched for the place of an error, which takes a second for millions of brackets. */
const maxSearched = 64 * 1024

/** The error of a body that is not what it must be, or not JSON at all. */
export const notJson = (source: string, type: string, expected: string): Error => {
  if (source.length > maxSearched) return bodyInvalid([bodyIssue(type, `The body must be ${expected}.`)])
  try {
    JSON.parse(source)
  } catch {
    return bodyInvalid([bodyIssue('json_invalid', `The body is not valid JSON: ${jsonErrorPlace(source)}.`)])
  }
  return bodyInvalid([bodyIssue(type, `The body must be ${expected}.`)])
}

const notAnArray = (source: string): Error =>
  notJson(source, 'list_type', 'a JSON array of rows, such as [{"name": "Ana"}]')

/** The rows of a JSON array, one after the other: to parse all of them at once would take too long. */
function* arrayRows(resource: Resource, source: string, names: ColumnNames): Generator<SentRow> {
  const begin = /^[ \t\r\n]*\[/.exec(source)
  if (!begin) throw notAnArray(source)
  for (const element of arrayElements(source, begin[0].length, blank, notAnArray))
    yield jsonRow(resource, element, names)
}

/** The line of the first byte that is not UTF-8, found by halves. */
const firstInvalidLine = (bytes: Buffer): number => {
  let [from, to] = [0, bytes.length]
  while (from < to) {
    const end = bytes.indexOf('\n', (from + to) >> 1) + 1
    if (end > 0 && isUtf8(bytes.subarray(from, end))) from = end
    else to = (from + to) >> 1
  }
  return 1 + countLines(bytes.toString('latin1', 0, from))
}

/** Creates the function that reads the next piece of a body, which ends with a row; it throws if the body is not one of the type. */
export const rowReader = (resource: Resource, type: ImportType, names: ColumnNames) => {
  let form: CsvForm | undefined
  let line = 1
  let previous = ''
  return function* (bytes: Buffer): Generator<SentRow> {
    line += countLines(previous)
    if (!isUtf8(bytes)) {
      const issue = bodyIssue('string_unicode', 'The body is not valid UTF-8.')
      throw bodyInvalid([type === 'application/json' ? issue : { ...issue, line: line - 1 + firstInvalidLine(bytes) }])
    }
    const source = line === 1 ? bytes.toString().replace(/^\uFEFF/, '') : bytes.toString()
    if (type === 'application/json') return yield* arrayRows(resource, source, names)
    form ??= { delimiter: delimiterIn(source) }
    yield* type === 'text/csv'
      ? csvRows(resource, source, names, form, line)
      : ndjsonRows(resource, source, names, line)
    previous = source
  }
}
