/** What the rows of a table are grouped by and what is computed of them, as the address of its page says it. */
import type { Issue } from '../contract/errors.js'
import { queryIssue } from '../contract/issues.js'
import { didYouMean } from '../descriptor/nearest.js'
import type { Resource } from '../descriptor/registry.js'
import {
  type Aggregate,
  aggregatedFields,
  aggregates,
  type Group,
  maxGroups,
  possibleGroups,
  type SummaryQuery,
} from '../descriptor/summary.js'

export type Grouping = Pick<SummaryQuery, 'by' | Aggregate>

/** The parameters of a page that the API has for summaries only. */
export const groupingNames = ['by', ...aggregates] as const

export const groupingPairs = ({ by, ...computed }: Grouping): [name: string, value: string][] => [
  ...by.map(({ name }): [string, string] => ['by', name]),
  ...aggregates.flatMap((aggregate) => (computed[aggregate] ?? []).map((name): [string, string] => [aggregate, name])),
]

/** The known names in a parameter, which may be repeated and have several; adds an issue for each other one. */
export const namesIn = (
  parameters: { getAll(name: string): string[] },
  parameter: string,
  allowed: readonly string[],
  message: (name: string) => string,
  issues: Issue[],
): string[] => {
  const values = parameters.getAll(parameter).flatMap((value) => value.split(','))
  const names = [...new Set(values.filter((name) => name.trim() !== ''))]
  const unknown = names.filter((name) => !allowed.includes(name))
  const issue = (name: string) => queryIssue('enum', parameter, `${message(name)}${didYouMean(name, allowed)}`, name)
  issues.push(...unknown.map(issue))
  return names.filter((name) => allowed.includes(name))
}

/** Undefined without anything to group by or to compute; adds an issue for what the resource does not have. */
export const parseGrouping = (
  resource: Resource,
  nameOf: (name: string) => string,
  parameters: { getAll(name: string): string[] },
  issues: Issue[],
): Grouping | undefined => {
  const chosen = (name: string, allowed: readonly string[]): string[] => {
    const message = name === 'by' ? 'Rows cannot be grouped by' : `There is no ${name} of`
    return namesIn(parameters, nameOf(name), allowed, (value) => `${message} "${value}"`, issues)
  }
  const groups = possibleGroups(resource)
  const names = chosen(
    'by',
    groups.map(({ name }) => name),
  )
  if (names.length > maxGroups)
    issues.push(queryIssue('too_long', nameOf('by'), `Rows can be grouped by ${maxGroups} at most`, names.join(',')))
  const by = names.slice(0, maxGroups).map((name) => groups.find((group) => group.name === name) as Group)
  const computed = aggregates.flatMap((aggregate) => {
    const fields = chosen(aggregate, aggregatedFields(resource, aggregate))
    return fields.length > 0 ? [[aggregate, fields]] : []
  })
  return by.length + computed.length === 0 ? undefined : { by, ...Object.fromEntries(computed) }
}
