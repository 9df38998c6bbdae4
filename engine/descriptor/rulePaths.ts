/** The rules of access that follow references: `{ 'loan_id.institution_id': claim('institution_id') }`. */

import type { ReportedResource } from './cycles.js'
import { type AccessName, accessNames, rulesOf } from './define.js'
import { didYouMean } from './nearest.js'
import { type Field, idField, type Resource, resourceFrom } from './registry.js'

/** The most references that a rule may follow. */
const maxReferences = 3

/** Whether a rule names a field of a referenced row. */
export const isPath = (name: string): boolean => name.includes('.')

/** The fields of the rows themselves, and the paths, that the rules for an operation name. */
export const ruleNames = ({ access }: Pick<Resource, 'access'>, name: AccessName): string[] => [
  // The check of its form reports another value.
  ...new Set(
    rulesOf(access?.[name]).flatMap((rule) => (typeof rule === 'object' && rule !== null ? Object.keys(rule) : [])),
  ),
]

const isHidden = ({ name, redacted, readBy }: Field): string | undefined =>
  redacted || readBy
    ? `"${name}" ${redacted ? 'is redacted' : 'has readBy'}: its value would show in the rows`
    : undefined

/** Follows a path; returns the references and the field, or what is wrong with it. Undefined where a referenced resource is not known. */
const follow = (
  registry: readonly Resource[],
  start: Resource,
  path: string,
): readonly Field[] | string | undefined => {
  const names = path.split('.')
  const last = names.pop() as string
  if (names.length > maxReferences)
    return `it follows ${names.length} references; a rule may follow at most ${maxReferences}`
  const fields: Field[] = []
  let resource: Resource | undefined = start
  for (const name of names) {
    const { path: at, fields: all }: Resource = resource
    const references = all.filter((field) => field.references !== undefined).map((field) => field.name)
    const field: Field | undefined = all.find((one) => one.name === name)
    if (field?.references === undefined) {
      const hint =
        didYouMean(name, references) || (references.length > 0 ? `; its references are ${references.join(', ')}` : '')
      return `${at} has no reference "${name}"${hint}`
    }
    const hidden = isHidden(field)
    if (hidden !== undefined) return hidden
    if (!field.filter) return `"${name}" of ${at} needs filter: true`
    fields.push(field)
    resource = registry.find((one) => one.path === field.references)
    if (!resource) return undefined
  }
  const { path: at, fields: all } = resource
  const field = last === 'id' ? idField(resource) : all.find(({ name }) => name === last)
  if (!field)
    return `${at} has no field "${last}"${didYouMean(
      last,
      all.map(({ name }) => name),
    )}`
  const hidden = isHidden(field)
  if (hidden !== undefined) return hidden
  if (last !== 'id' && !field.filter) return `"${last}" of ${at} needs filter: true`
  return [...fields, field]
}

/** Reports paths that lead nowhere. */
export const checkRulePaths = (parsed: readonly ReportedResource[]): void => {
  const resources = parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor, []))
  for (const [n, { report }] of parsed.entries()) {
    const resource = resources[n] as Resource
    for (const operation of accessNames)
      for (const path of ruleNames(resource, operation).filter(isPath)) {
        const mistake = follow(resources, resource, path)
        if (typeof mistake === 'string')
          report(`access: ${operation} names "${path}", but ${mistake}`, 'access', operation)
        else if (operation === 'read' && resource.changes) {
          const unlogged = mistake
            ?.slice(0, -1)
            .flatMap(({ references }) =>
              resources.filter(({ path: other, changes }) => other === references && !changes),
            )
          for (const { path: other } of unlogged ?? [])
            report(`changes needs changes: true in ${other} too, because who may read a row depends on it`, 'changes')
        }
      }
  }
}

/** The resources, with the fields to which the paths of their rules lead. */
export const withRulePaths = <R extends Resource>(resources: readonly R[]): R[] =>
  resources.map((resource) => {
    const paths = new Set(accessNames.flatMap((operation) => ruleNames(resource, operation)).filter(isPath))
    const followed = [...paths].flatMap((path): [string, readonly Field[]][] => {
      const fields = follow(resources, resource, path)
      return typeof fields === 'object' ? [[path, fields]] : []
    })
    return followed.length > 0 ? { ...resource, rulePaths: new Map(followed) } : resource
  })

/** Whether rules that follow references lead from a resource back to it, perhaps through the rules of others. */
export const leadsBack = (registry: readonly Resource[], { path: start }: Resource): boolean => {
  const reached = new Set<string>()
  const follow = (from: string): void => {
    const { rulePaths = new Map<string, readonly Field[]>() } = registry.find(({ path }) => path === from) ?? {}
    for (const { references } of [...rulePaths.values()].flatMap((fields) => fields.slice(0, -1))) {
      if (references === undefined || reached.has(references)) continue
      reached.add(references)
      follow(references)
    }
  }
  follow(start)
  return reached.has(start)
}

/** The fields of other resources that decide whether a rule allows a row, such as `loans.institution_id`; an id never changes. */
export const decidingFields = (resource: Resource, name: string): string[] => {
  const [first, ...others] = rulePath(resource, name)
  let at = first?.references
  return others.flatMap((field) => {
    const deciding = field.name === 'id' ? [] : [`${at}.${field.name}`]
    at = field.references
    return deciding
  })
}

/** The field that a rule of a resource compares, after the references to its row. */
export const rulePath = ({ fields, rulePaths }: Resource, name: string): readonly Field[] =>
  rulePaths?.get(name) ?? fields.filter((field) => field.name === name)
