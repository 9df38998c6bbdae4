/** Reads the query of a table page from its query string; forms send empty inputs, names of rows and page numbers too. */
import { HttpError, type Issue } from '../contract/errors.js'
import { queryIssue } from '../contract/issues.js'
import { listQueryParser, queryParameters } from '../contract/parameters.js'
import { kindOf } from '../descriptor/kinds/index.js'
import { listParameters } from '../descriptor/listParameters.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { didYouMean } from '../descriptor/nearest.js'
import { type Field, filterFields, idField, parseId, type Resource } from '../descriptor/registry.js'
import { shorten } from '../descriptor/violations.js'
import { oncePer } from '../process/oncePer.js'
import type { Storage } from '../storage/storage.js'
import type { choicesPage } from './choices.js'
import { withFilter } from './filters.js'
import { groupingNames, namesIn, parseGrouping } from './grouping.js'
import {
  columnsParameter,
  groupingParameter,
  pageParameter,
  type TableQuery,
  tableUrl,
  type WrongParameters,
} from './links.js'
import { referencedResource } from './names.js'
import type { ResourceRequest, Visitor } from './page.js'
import { countRows } from './rows.js'
import { columnFields } from './rowsTable.js'

export interface ValidQuery {
  readonly query: TableQuery
  readonly ignored: readonly string[]
  readonly wrong: WrongParameters
  readonly status?: number
}

/** The query; or where to go instead; or the name that several rows have, of which one must be chosen. */
type ParsedQuery =
  | ValidQuery
  | { readonly redirect: string }
  | { readonly query: TableQuery; readonly ambiguous: Parameters<typeof choicesPage>[3] }

export const parserOf = oncePer(listQueryParser)

const isInteger = (text: string): boolean => /^\s*[+-]?\d+\s*$/.test(text)

/** Whether a text is the id of a row, and not its name; any text can be an id of its kind, so that the row decides. */
const isIdOf = async (storage: Storage, target: Resource, text: string): Promise<boolean> => {
  const { isWhole, length } = kindOf(idField(target).kind)
  if (isWhole) return isInteger(text)
  const id = parseId(target, text)
  return id !== undefined && (length !== undefined || (await storage.table(target).get(id)) !== undefined)
}

/** An input for a time sends it without an offset. */
const withOffset = ([name, value]: [string, string]): [string, string] => [
  name,
  name.includes('.') && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(value)
    ? `${value}${value.length > 16 ? '' : ':00'}Z`
    : value,
]

/** The columns that the parameters name, in their order; undefined for all in the order of the descriptor. */
const columnsIn = (resource: Resource, pairs: URLSearchParams, issues: Issue[]): readonly string[] | undefined => {
  const names = columnFields(resource).map(({ name }) => name)
  const message = (name: string) => `There is no column "${name}"`
  const columns = namesIn(pairs, columnsParameter(resource), names, message, issues)
  return columns.length === 0 || columns.join() === names.join() ? undefined : columns
}

/** What is wrong with a value, for the person who typed it. */
const wrongWords: Readonly<Record<string, string>> = {
  int_parsing: 'is not a whole number',
  int_parsing_size: 'is too large',
  float_parsing: 'is not a number',
  finite_number: 'is too large',
  bool_parsing: 'is neither true nor false',
  date_parsing: 'is not a date such as 2026-03-01',
  datetime_parsing: 'is not a time such as 2026-03-01T09:30:00Z',
  uuid_parsing: 'is not a UUID',
  decimal_parsing: 'is not a number such as 12.50',
}

const describe = ({ type, msg, input = '' }: Issue): string =>
  wrongWords[type] ? `“${shorten(String(input))}” ${wrongWords[type]}.` : /[.?]$/.test(msg) ? msg : `${msg}.`

/** Parses the query without its invalid parameters; the page shows an error for each of them. */
const parseValid = (parse: ReturnType<typeof listQueryParser>, pairs: readonly [string, string][], issues: Issue[]) => {
  try {
    return parse(new URLSearchParams(pairs as [string, string][]).toString())
  } catch (error) {
    const { detail = [] } = error instanceof HttpError ? (error.body as { detail?: readonly Issue[] }) : {}
    const names = detail.map(({ loc }) => loc[1])
    const valid = pairs.filter(([name]) => !names.includes(name))
    if (valid.length === pairs.length) throw error
    issues.push(...detail)
    return parseValid(parse, valid, issues)
  }
}

const ignoredIn = (resource: Resource, names: Iterable<string>): string[] => {
  const tableParameters = [
    columnsParameter(resource),
    ...groupingNames.map((name) => groupingParameter(resource, name)),
  ]
  const valid = [...listParameters(resource).keys(), ...tableParameters]
  const unknown = [...new Set(names)].filter((name) => !valid.includes(name) && name !== pageParameter(resource))
  return unknown.map((name) => `Unknown parameter "${name}" was ignored${didYouMean(name, valid) || '.'}`)
}

export const parseQuery = async (
  { storage, registry }: Visitor,
  { resource, querystring }: ResourceRequest,
): Promise<ParsedQuery> => {
  // The last value of a repeated parameter counts, as in the API; an empty input is no filter.
  const pairs = queryParameters(querystring)
  const filled = [...pairs].filter(([, value]) => value.trim() !== '')
  const parameters = new Map(filled)
  const page = parameters.get(pageParameter(resource))
  parameters.delete(pageParameter(resource))
  const references: { readonly field: Field; readonly target: Resource; readonly text: string }[] = []
  for (const field of filterFields(resource)) {
    const [target, text] = [referencedResource(registry, field), parameters.get(field.name)?.trim()]
    if (target && text !== undefined && !(await isIdOf(storage, target, text))) references.push({ field, target, text })
  }
  for (const { field } of references) parameters.delete(field.name)
  const issues: Issue[] = []
  const parsed = parseValid(parserOf(resource), filled.filter(([name]) => parameters.has(name)).map(withOffset), issues)
  const [first, ...later] = references
  // One name after another: the address of the next page has the names that are still to be found.
  const unresolved = later.map(({ field, text }) => ({ field: field.name, operator: 'eq', value: text }) as const)
  const sentColumns = pairs.getAll(columnsParameter(resource))
  const columns = columnsIn(resource, pairs, issues)
  const grouping = parseGrouping(resource, (name) => groupingParameter(resource, name), pairs, issues)
  const query = { ...parsed, where: [...parsed.where, ...unresolved], columns, grouping }
  if (first) {
    const { total, first: id } = await countRows(storage, first.target, { ...defaultListQuery, search: first.text })
    if (total > 1) return { query, ambiguous: first }
    if (total === 1) return { redirect: tableUrl(resource, withFilter(query, first.field.name, String(id))) }
    const message = `No ${first.target.name.toLowerCase()} matches “${shorten(first.text)}”`
    issues.push(queryIssue('reference', first.field.name, message, first.text))
  }
  if (issues.length > 0) {
    const valid = { ...query, where: query.where.filter((one) => !(unresolved as readonly unknown[]).includes(one)) }
    const invalid = issues.map((issue): [string, { input: string; message: string }] => [
      String(issue.loc[1]),
      { input: String(issue.input ?? ''), message: describe(issue) },
    ])
    const status = issues.every(({ type }) => type === 'reference') ? 200 : 422
    return { query: valid, ignored: ignoredIn(resource, pairs.keys()), wrong: new Map(invalid), status }
  }
  if (page !== undefined && isInteger(page)) {
    const { limit } = query.page
    const skipped = (BigInt(page.trim()) - 1n) * BigInt(limit)
    return { redirect: tableUrl(resource, { ...query, page: { limit, offset: skipped > 0n ? skipped : 0n } }) }
  }
  // A form without JavaScript sends its empty inputs too; the address is the query alone.
  const isRepeated = sentColumns.length > 1 || (sentColumns.length === 1 && !columns)
  if (filled.length < pairs.size || isRepeated) return { redirect: tableUrl(resource, query) }
  return { query, ignored: ignoredIn(resource, pairs.keys()), wrong: new Map() }
}
