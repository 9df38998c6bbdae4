/** Reads the query of a table page from its query string; forms send empty inputs, names of rows and page numbers too. */
import { parametersInvalid } from '../contract/errors.js'
import { queryIssue } from '../contract/issues.js'
import { type listQueryParser, queryParameters } from '../contract/parameters.js'
import { listParameters } from '../descriptor/listParameters.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { didYouMean } from '../descriptor/nearest.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { choicesPage } from './choices.js'
import { withFilter } from './filters.js'
import { groupingNames, parseGrouping } from './grouping.js'
import type { ExplorerService } from './layout.js'
import { columnsParameter, groupingParameter, pageParameter, type TableQuery, tableUrl } from './links.js'
import { referencedResource } from './names.js'
import { countRows } from './rows.js'
import { columnFields } from './rowsTable.js'

/** The query; or where to go instead; or the name that several rows have, of which one must be chosen. */
type ParsedQuery =
  | { readonly query: TableQuery; readonly ignored: readonly string[] }
  | { readonly redirect: string }
  | { readonly query: TableQuery; readonly ambiguous: Parameters<typeof choicesPage>[3] }

const isInteger = (text: string): boolean => /^\s*[+-]?\d+\s*$/.test(text)

/** An input for a time sends it without an offset. */
const withOffset = ([name, value]: [string, string]): [string, string] => [
  name,
  name.includes('.') && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(value)
    ? `${value}${value.length > 16 ? '' : ':00'}Z`
    : value,
]

/** The columns that the parameters name, in the order of the descriptor; undefined for all. */
const columnsIn = (resource: Resource, values: readonly string[]): readonly string[] | undefined => {
  const known = columnFields(resource).map(({ name }) => name)
  const chosen = values.flatMap((value) => value.split(',')).filter(Boolean)
  const wrong = chosen.filter((name) => !known.includes(name))
  const issue = (name: string) =>
    queryIssue('enum', columnsParameter(resource), `There is no column "${name}"${didYouMean(name, known)}`, name)
  if (wrong.length > 0) throw parametersInvalid(wrong.map(issue))
  const columns = known.filter((name) => chosen.includes(name))
  return columns.length === 0 || columns.length === known.length ? undefined : columns
}

const ignoredIn = (resource: Resource, sent: Iterable<string>): string[] => {
  const own = [columnsParameter(resource), ...groupingNames.map((name) => groupingParameter(resource, name))]
  const known = [...listParameters(resource).keys(), ...own]
  const unknown = [...new Set(sent)].filter((name) => !known.includes(name) && name !== pageParameter(resource))
  return unknown.map((name) => `Unknown parameter "${name}" was ignored${didYouMean(name, known) || '.'}`)
}

export const parseQuery = async (
  { storage, registry }: ExplorerService,
  resource: Resource,
  parse: ReturnType<typeof listQueryParser>,
  querystring: string,
): Promise<ParsedQuery> => {
  // The last value of a repeated parameter counts, as in the API; an empty input is no filter.
  const all = queryParameters(querystring)
  const filled = [...all].filter(([, value]) => value.trim() !== '')
  const sent = new Map(filled)
  const page = sent.get(pageParameter(resource))
  sent.delete(pageParameter(resource))
  const named = filterFields(resource).flatMap((field) => {
    const [target, text = '0'] = [referencedResource(registry, field), sent.get(field.name)?.trim()]
    return target && !isInteger(text) ? [{ field, target, text }] : []
  })
  for (const { field } of named) sent.delete(field.name)
  const parsed = parse(new URLSearchParams(filled.filter(([name]) => sent.has(name)).map(withOffset)).toString())
  const [first, ...others] = named
  // One name after another: the address of the next page has the names that are still to be found.
  const unresolved = others.map(({ field, text }) => ({ field: field.name, operator: 'eq', value: text }) as const)
  const sentColumns = all.getAll(columnsParameter(resource))
  const columns = columnsIn(resource, sentColumns)
  const grouping = parseGrouping(resource, (name) => groupingParameter(resource, name), all)
  const query = { ...parsed, where: [...parsed.where, ...unresolved], columns, grouping }
  if (first) {
    const { total, first: id } = await countRows(storage, first.target, { ...defaultListQuery, search: first.text })
    if (total !== 1) return { query, ambiguous: first }
    return { redirect: tableUrl(resource, withFilter(query, first.field.name, String(id))) }
  }
  if (page !== undefined && isInteger(page)) {
    const { limit } = query.page
    const skipped = (BigInt(page.trim()) - 1n) * BigInt(limit)
    return { redirect: tableUrl(resource, { ...query, page: { limit, offset: skipped > 0n ? skipped : 0n } }) }
  }
  // A form without JavaScript sends its empty inputs too; the address is the query alone.
  const isRepeated = sentColumns.length > 1 || (sentColumns.length === 1 && !columns)
  if (filled.length < all.size || isRepeated) return { redirect: tableUrl(resource, query) }
  return { query, ignored: ignoredIn(resource, all.keys()) }
}
