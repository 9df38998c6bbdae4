/** What a search finds, told in plain JavaScript. */
import { type Resource, type RowValues, searchedFields } from '../../engine/descriptor/registry.js'

/** The text of a row that is searched. */
export const joinedText = (resource: Resource, row: RowValues): string =>
  searchedFields(resource)
    .map(({ name }) => row[name] ?? null)
    .filter((value) => value !== null)
    .join(' ')

/** Another way to fold case than the engine's: the regular expressions of the language. */
export const containing = (q: string) => {
  const literal = q.trim().replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  const pattern = new RegExp(literal, 'iu')
  return (text: string) => pattern.test(text)
}
