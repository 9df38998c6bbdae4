/** Generates plausible demo rows for a new resource, with valid references and unique values. */
import { isText, kindOf } from '../../engine/descriptor/kinds/index.js'
import type { Registry, RowValues, Value } from '../../engine/descriptor/registry.js'
import type { NewField, NewResource } from './plan.js'

/** Example values, by the end of the field's name. */
const choices: Readonly<Record<string, readonly string[]>> = {
  country: ['GB', 'DE', 'FR', 'IN'],
  locale: ['en', 'de', 'fr'],
  language: ['en', 'de', 'fr'],
  currency: ['EUR', 'GBP', 'USD'],
  color: ['#1d4ed8', '#f59e0b', '#15803d'],
  city: ['London', 'Berlin', 'Lyon', 'Pune'],
}

const readableName = (name: string): string => {
  const spaced = name.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

const demoText = (field: NewField, { path, name: resource }: NewResource, n: number): string => {
  const last = field.name.slice(field.name.lastIndexOf('_') + 1)
  const slug = `${resource.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-${n}`
  const initials = path
    .split('-')
    .map((word) => word.charAt(0).toUpperCase())
    .join('')
  if (last === 'json') return JSON.stringify({ [path]: n })
  if (last === 'email') return `${slug}@example.com`
  if (last === 'url' || last === 'link' || last === 'website') return `https://www.example.com/${path}/${n}`
  if (last === 'slug') return slug
  if (last === 'code' || last === 'reference') return `${initials}-${String(n).padStart(4, '0')}`
  if (last === 'title' || last === 'name') return `${resource} ${n}`
  const list = field.unique || !Object.hasOwn(choices, last) ? undefined : choices[last]
  return list?.[(n - 1) % list.length] ?? `${readableName(field.name)} ${n}`
}

const demoReference = (field: NewField, { path }: NewResource, ids: readonly number[], n: number): Value => {
  if (field.references !== path) return (field.unique ? ids[n - 1] : ids[(n - 1) % ids.length]) ?? null
  // The resource references itself: the first row is the root.
  if (n === 1) return null
  return field.unique ? n - 1 : 1
}

const fieldValue = (
  field: NewField,
  resource: NewResource,
  ids: readonly number[],
  n: number,
  index: number,
): Value => {
  const { kind, default: preset, unique } = field
  if (field.references) return demoReference(field, resource, ids, n)
  if (preset !== undefined && typeof preset !== 'function' && !unique) return preset
  if (isText(field)) return demoText(field, resource, n)
  const { demo, sample } = kindOf(kind)
  const place = { ...field, isUnique: unique !== undefined, index, path: resource.path }
  return demo ? demo(n, place) : sample(n, field.name, field)
}

/** The requested number of rows; fewer if a unique reference has fewer rows to reference, none if a required one has none. */
export const demoRows = (resource: NewResource, registry: Registry, wanted: number): RowValues[] => {
  const isOther = ({ references }: NewField) => references !== undefined && references !== resource.path
  /** The ids that a reference may take; half of those of a unique one stay free, so that more rows can be created. */
  const referencedIds = (field: NewField): number[] => {
    const rows = registry.find(({ path }) => path === field.references)?.demo ?? []
    const ids = rows.map((row) => Number(row['id']))
    return field.unique ? ids.slice(0, Math.floor(ids.length / 2)) : ids
  }
  const fields = resource.fields
    .filter(({ redacted }) => !redacted)
    .map((field) => ({ field, ids: referencedIds(field) }))
  const limits = fields
    .filter(({ field }) => field.isRequired && isOther(field))
    .map(({ field, ids }) => (field.unique || ids.length === 0 ? ids.length : wanted))
  return Array.from({ length: Math.min(wanted, ...limits) }, (_, row) => {
    const n = row + 1
    const values = fields.map(({ field, ids }, index): [string, Value] => {
      // Some optional values are null, but none in the first row, which is the example in the documents.
      const isLeftOut = !field.isRequired && field.default === undefined && n % 4 === 0
      return [field.name, isLeftOut ? null : fieldValue(field, resource, ids, n, index)]
    })
    return { id: n, ...Object.fromEntries(values.filter(([, value]) => value !== null)) }
  })
}

/** The text of a seeds file: a row per line. */
export const seedsText = (rows: readonly RowValues[]): string => {
  const lines = rows.map((row) => {
    const values = Object.entries(row).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    return `  {${values.join(', ')}}`
  })
  return `[\n${lines.join(',\n')}\n]\n`
}
