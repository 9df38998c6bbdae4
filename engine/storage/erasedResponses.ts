/** What is left of the stored response of an idempotency key once values of a row are erased: a replay tells nothing of them, and writes nothing. */
import { memberTexts } from '../descriptor/jsonText.js'
import type { Registry, Resource, RowId } from '../descriptor/registry.js'

/** Marks a response whose values are erased, or a row of one. */
const mark = '"registry_erased":true'

export const isErased = (body: Buffer): boolean => body.includes(mark)

const namesIn = (json: string): string => [...memberTexts(json).keys()].join()
const namesOf = ({ fields }: Resource): string => fields.map(({ name }) => name).join()

const importNames = 'created,updated,unchanged,ids'

/** Erases what may be of a row; returns undefined for a response that has nothing of it. */
export const eraseResponse = (registry: Registry, resource: Resource, id: RowId, body: string): string | undefined => {
  const [ownNames, known] = [namesOf(resource), new Set(['id', importNames, ...registry.map(namesOf)])]
  const idIn = (row: string) => {
    const text = memberTexts(row).get('id') ?? 'null'
    return { text, value: String(JSON.parse(text)) }
  }
  const isOfRow = (row: string): boolean => namesIn(row) === ownNames && [idIn(row).value, idIn(row).text].includes(id)
  const eraseRow = (row: string): string => {
    const { text } = idIn(row)
    return text === 'null' ? `{${mark}}` : `{"id":${text},${mark}}`
  }
  if (body === '' || isErased(Buffer.from(body))) return undefined
  // A custom operation may have returned any JSON.
  if (!body.startsWith('{')) return `{${mark}}`
  if (isOfRow(body)) return eraseRow(body)
  const names = namesIn(body)
  if (known.has(names)) return undefined
  if (names !== 'results') return `{${mark}}`
  const { results } = JSON.parse(body) as { results: { status: number; body?: object }[] }
  const rows = results.flatMap((result) => (result.body ? [JSON.stringify(result.body)] : []))
  if (!rows.some(isOfRow) && rows.every((row) => known.has(namesIn(row)))) return undefined
  return `{"results":[${results
    .map(({ status, body: row }) =>
      row ? `{"status":${status},"body":${eraseRow(JSON.stringify(row))}}` : `{"status":${status}}`,
    )
    .join()}]}`
}
