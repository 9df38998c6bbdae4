/** Reads the query of a table page from its query string; forms send empty inputs, names of rows and page numbers too. */
import { type listQueryParser, queryParameters } from '../contract/parameters.js'
import { type ListQuery, wholeTable } from '../descriptor/listQuery.js'
import { filterFields, type Registry, type Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { withFilter } from './filters.js'
import { targetOf } from './labels.js'
import { pageParameter, tableUrl } from './links.js'
import { eachRow } from './rows.js'

/** The query; or where to go instead; or the name that several rows have, of which one must be chosen. */
type ParsedQuery =
  | { readonly query: ListQuery }
  | { readonly redirect: string }
  | { readonly query: ListQuery; readonly ambiguous: { readonly field: string; readonly text: string } }

const isInteger = (text: string): boolean => /^\s*[+-]?\d+\s*$/.test(text)

/** An input for a time sends it without an offset. */
const withOffset = ([name, value]: [string, string]): [string, string] => [
  name,
  name.includes('.') && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(value)
    ? `${value}${value.length > 16 ? '' : ':00'}Z`
    : value,
]

/** The id of the only row that a text finds. */
const onlyMatch = async (storage: Storage, target: Resource, q: string): Promise<number | undefined> => {
  let id: number | undefined
  const page = await storage.table(target).list({ ...wholeTable, search: q, page: { limit: 1, offset: 0n } })
  const total = await eachRow(page, (row) => {
    id = Number(row['id'])
  })
  return total === 1 ? id : undefined
}

export const parseQuery = async (
  storage: Storage,
  registry: Registry,
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
  const names = filterFields(resource).filter((field) => field.references && !isInteger(sent.get(field.name) ?? '0'))
  const texts = names.map(({ name }) => [name, sent.get(name)?.trim() ?? ''] as const)
  for (const [name] of texts) sent.delete(name)
  const parsed = parse(new URLSearchParams(filled.filter(([name]) => sent.has(name)).map(withOffset)).toString())
  const [first, ...others] = texts
  // One name after another: the address of the next page has the names that are still to be found.
  const unresolved = others.map(([field, value]) => ({ field, operator: 'eq', value }) as const)
  const query = { ...parsed, where: [...parsed.where, ...unresolved] }
  const target = names[0] && targetOf(registry, names[0])
  if (first && target) {
    const [field, text] = first
    const id = await onlyMatch(storage, target, text)
    if (id === undefined) return { query, ambiguous: { field, text } }
    return { redirect: tableUrl(resource, withFilter(query, field, String(id))) }
  }
  if (page !== undefined && isInteger(page)) {
    const { limit } = query.page
    const skipped = (BigInt(page.trim()) - 1n) * BigInt(limit)
    return { redirect: tableUrl(resource, { ...query, page: { limit, offset: skipped > 0n ? skipped : 0n } }) }
  }
  // A form without JavaScript sends its empty inputs too; the address is the query alone.
  return filled.length < all.size ? { redirect: tableUrl(resource, query) } : { query }
}
