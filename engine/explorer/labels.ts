/** Labels of rows: the fields of a descriptor's `label`, or those that usually name a row. */
import { type Field, type Registry, type Resource, type RowValues, searchedFields } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { cut } from './excerpt.js'

/** Fields that name a row, by preference. */
const usual = [['name'], ['title'], ['first_name', 'last_name'], ['label'], ['code'], ['slug']]

/** The fields that form the label of a row; none if it has no text field. */
export const labelFields = (resource: Resource): readonly string[] => {
  if (resource.label) return resource.label
  const texts = searchedFields(resource).filter(({ format }) => format === undefined)
  const named = usual.find((names) => names.every((name) => texts.some((field) => field.name === name)))
  const first = texts.find(({ required }) => required) ?? texts[0]
  return named ?? (first ? [first.name] : [])
}

const maxLength = 80

export const labelOf = (resource: Resource, row: RowValues): string => {
  const words = labelFields(resource)
    .map((name) => String(row[name] ?? '').trim())
    .filter((word) => word !== '')
  const label = words.join(' ')
  if (label === '') return `#${row['id']}`
  return label.length > maxLength ? `${cut(label, 0, maxLength)}…` : label
}

export const targetOf = (registry: Registry, { references }: Field): Resource | undefined =>
  registry.find(({ path }) => path === references)

export type Labels = (target: Resource, id: unknown) => string | undefined

/** Reads the labels of the rows that some values of reference fields name: one query for each referenced resource. */
export const readLabels = async (
  storage: Storage,
  registry: Registry,
  fields: readonly Field[],
  valuesOf: (field: Field) => readonly unknown[],
): Promise<Labels> => {
  const ids = new Map<Resource, Set<number>>()
  for (const field of fields) {
    const target = targetOf(registry, field)
    if (!target) continue
    const known = ids.get(target) ?? new Set()
    for (const id of valuesOf(field)) if (id !== null && Number.isSafeInteger(Number(id))) known.add(Number(id))
    ids.set(target, known)
  }
  const labels = new Map<Resource, Map<number, string>>()
  for (const [target, wanted] of ids) {
    const found = wanted.size === 0 ? [] : await storage.table(target).excerpts([...wanted], labelFields(target))
    labels.set(target, new Map(found.map((row) => [Number(row['id']), labelOf(target, row)])))
  }
  return (target, id) => labels.get(target)?.get(Number(id))
}
