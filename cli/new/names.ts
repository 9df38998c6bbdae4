/** The names of a new resource: its path, and what is derived from it. */
import { isPath, pluralName } from '../../engine/descriptor/names.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { UsageError } from '../../support/options.js'

/** Throws a UsageError if the path is invalid or taken. */
export const checkPath = (path: string, registry: Registry): void => {
  if (!isPath(path)) {
    const words = path.toLowerCase().match(/[a-z0-9]+/g) ?? []
    const suggestion = words.join('-').replace(/^[0-9-]+/, '')
    const advice = suggestion === '' ? ', such as training-courses' : `. Did you mean "${suggestion}"?`
    throw new UsageError(`PATH is "${path}", but it must be lower-case words joined by "-"${advice}`)
  }
  if (registry.some((resource) => resource.path === path)) {
    throw new UsageError(`resources/${path}.ts already exists; choose another path, or change that file.`)
  }
}

/** The last word in the singular. */
const singularWord = (text: string): string => {
  if (/[^aeiou]ies$/.test(text)) return `${text.slice(0, -3)}y`
  if (/(ss|[^aeo]us|x|zz|ch|sh)es$/.test(text)) return text.slice(0, -2)
  return /[^sui]s$/.test(text) ? text.slice(0, -1) : text
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The singular and, if the engine does not derive it, the plural name: `training-courses` is `Training course`. */
export const resourceNames = (path: string): { name: string; plural: string | undefined } => {
  const title = path.replaceAll('-', ' ')
  const name = capitalised(singularWord(title))
  const plural = capitalised(title)
  return { name, plural: pluralName({ name }) === plural ? undefined : plural }
}

/** The table of a path; throws a UsageError if the name would be too long. */
export const tableName = (path: string): string => {
  const table = path.replaceAll('-', '_')
  if (table.length <= 60) return table
  throw new UsageError(
    `The table "${table}" would have ${table.length} characters; name one of at most 60 with --table.`,
  )
}

/** The area of the first resource that a field references; without a reference, the first area. */
export const defaultArea = (fields: readonly string[], registry: Registry): string => {
  const types = fields.map((field) => field.split(/[:!,=]/)[1])
  const referenced = types.flatMap((type) => registry.filter(({ path }) => path === type))[0]
  return referenced?.area ?? registry[0]?.area ?? 'General'
}
