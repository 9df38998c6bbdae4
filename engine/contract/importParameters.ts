/** The query parameters of an import. One that is not known is refused: a misspelt `dryRun` must not store anything. */
import { z } from 'zod'
import { didYouMean } from '../descriptor/nearest.js'
import { type Resource, updatableFields } from '../descriptor/registry.js'
import { bodyInvalid, type Issue } from './errors.js'
import { queryIssue } from './issues.js'
import { queryParameters } from './parameters.js'

/** How many rows an import may have. */
export const maxImportRows = 10_000

/** The fields by which rows can be found that are to be changed. */
export const matchFields = (resource: Resource): string[] =>
  updatableFields(resource).length === 0
    ? []
    : resource.fields.filter(({ name, unique }) => name === 'id' || unique?.length === 0).map(({ name }) => name)

export const importQuerySchema = (resource: Resource) => {
  const fields = matchFields(resource)
  const match = z
    .enum(fields)
    .optional()
    .meta({ description: 'A unique field: a row that has its value is changed, any other is created.' })
  return z.object({
    dryRun: z.boolean().optional().meta({ description: 'Whether to check the rows and store nothing.' }),
    ...(fields.length > 0 && { match }),
    ignore: z.array(z.string()).optional().meta({ description: 'Columns or members that are not read.' }),
  })
}

export interface ImportQuery {
  readonly dryRun: boolean
  readonly match: string | undefined
  readonly ignore: readonly string[]
}

export const importQueryParser = (resource: Resource) => {
  const expected = matchFields(resource)
  const parameterNames = ['dryRun', 'match', 'ignore']
  return (querystring: string): ImportQuery => {
    const parameters = queryParameters(querystring)
    const [dryRun, match] = [parameters.getAll('dryRun').at(-1), parameters.getAll('match').at(-1)]
    const issues: Issue[] = [...new Set(parameters.keys())]
      .filter((name) => !parameterNames.includes(name))
      .map((name) =>
        queryIssue(
          'extra_forbidden',
          name,
          `Unknown parameter "${name}"${didYouMean(name, parameterNames) || `; an import takes ${parameterNames.join(', ')}`}`,
          parameters.get(name) ?? '',
        ),
      )
    if (dryRun !== undefined && dryRun !== 'true' && dryRun !== 'false')
      issues.push(queryIssue('bool_parsing', 'dryRun', 'Input should be true or false', dryRun))
    if (match !== undefined && !expected.includes(match)) {
      const msg =
        expected.length > 0
          ? `Input should be ${expected.map((name) => `'${name}'`).join(' or ')}`
          : 'Rows cannot be changed'
      issues.push({ ...queryIssue('enum', 'match', msg, match), ctx: { expected } })
    }
    if (issues.length > 0) throw bodyInvalid(issues)
    return { dryRun: dryRun === 'true', match, ignore: parameters.getAll('ignore') }
  }
}
