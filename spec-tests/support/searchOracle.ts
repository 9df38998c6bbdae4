/** The expected result of a search, in plain JavaScript. */
import { type Resource, type RowValues, searchedFields } from '../../engine/descriptor/registry.js'

/** The text that `q` is searched in. */
export const joinedText = (resource: Resource, row: RowValues): string =>
  searchedFields(resource)
    .map(({ name }) => row[name] ?? null)
    .filter((value) => value !== null)
    .join(' ')

/** Ignores case by regular expressions, independently of the engine's folding. */
export const containing = (q: string) => {
  const literal = q.trim().replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  const pattern = new RegExp(literal, 'iu')
  return (text: string) => pattern.test(text)
}
