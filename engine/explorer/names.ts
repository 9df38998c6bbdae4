/** Names for people: of a field (`dept_id`, whose target is named Department, is "Department"), and of a row, which is its label. */
import {
  type Field,
  parseId,
  type Registry,
  type Resource,
  type RowValues,
  searchedFields,
} from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { cut } from './excerpt.js'
import { type Html, html } from './html.js'

export const referencedResource = (registry: Registry, { references }: Field): Resource | undefined =>
  registry.find(({ path }) => path === references)

const initialisms = new Set(['api', 'html', 'id', 'ip', 'json', 'url', 'uuid'])

/** Whether letters stand for a word: its first, and others in their order. */
const isAbbreviation = (letters: string, word: string): boolean =>
  new RegExp(`^${[...letters].join('.*')}`).test(word.toLowerCase())

/** A name in code as people write it: `visit_id`, `visit-id` and `visitId` are "Visit ID". */
export const titleOf = (name: string): string => {
  const words = name.split(/[_-]+|(?<=[a-z0-9])(?=[A-Z])/).filter(Boolean)
  const title = words.map((word) => (initialisms.has(word.toLowerCase()) ? word.toUpperCase() : word.toLowerCase()))
  return title.length === 0 ? name : title.join(' ').replace(/^./, (first) => first.toUpperCase())
}

export const fieldTitle = (registry: Registry, field: Field): string => {
  const { name, label } = field
  if (label) return label
  const target = referencedResource(registry, field)
  const stem = target ? name.replace(/_id$/, '') : name
  if (target && stem && isAbbreviation(stem, target.name)) return target.name
  return titleOf(stem || name)
}

/** What so many rows are called in a sentence. */
export const nounFor = ({ name, plural }: Resource, count: number): string =>
  (count === 1 ? name : plural).toLowerCase()

export const bothNames = (registry: Registry, field: Field): Html =>
  html`${fieldTitle(registry, field)} <code class="raw">${field.name}</code>`

const usualLabels = [['name'], ['title'], ['first_name', 'last_name'], ['label'], ['code'], ['slug']]

/** The fields that form the label of a row; none if it has no text field. */
export const labelFields = (resource: Resource): readonly string[] => {
  if (resource.label) return resource.label
  const texts = searchedFields(resource).filter(({ format }) => format === undefined)
  const labelNames = usualLabels.find((names) => names.every((name) => texts.some((field) => field.name === name)))
  const first = texts.find(({ required }) => required) ?? texts[0]
  return labelNames ?? (first ? [first.name] : [])
}

const maxLength = 80

export const rowLabel = (resource: Resource, row: RowValues): string => {
  const parts = labelFields(resource).map((name) => String(row[name] ?? '').trim())
  const label = parts.filter(Boolean).join(' ')
  if (label === '') return `#${row['id']}`
  return label.length > maxLength ? `${cut(label, 0, maxLength)}…` : label
}

export type Labels = (target: Resource, id: unknown) => string | undefined

/** Reads the labels of the rows that some values of reference fields name: one query for each referenced resource. */
export const readLabels = async (
  { storage, registry }: { readonly storage: Storage; readonly registry: Registry },
  fields: readonly Field[],
  readValues: (field: Field) => readonly unknown[],
): Promise<Labels> => {
  const labels = new Map<Resource, Map<string, string>>()
  for (const target of new Set(fields.flatMap((field) => referencedResource(registry, field) ?? []))) {
    const values = fields.filter(({ references }) => references === target.path).flatMap(readValues)
    const ids = new Set(values.filter((value) => value !== null).map(String))
    const validIds = [...ids].filter((id) => parseId(target, id) !== undefined)
    const rows = validIds.length === 0 ? [] : await storage.table(target).excerpts(validIds, labelFields(target))
    labels.set(target, new Map(rows.map((row) => [String(row['id']), rowLabel(target, row)])))
  }
  return (target, id) => labels.get(target)?.get(String(id))
}
