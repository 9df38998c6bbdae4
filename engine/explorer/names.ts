/** Names for people: `first_name` is "First name", and `dept_id`, which references departments, is "Department". */
import type { Field, Registry } from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { targetOf } from './labels.js'

const initialisms = new Set(['api', 'html', 'id', 'ip', 'json', 'url', 'uuid'])

/** Whether letters stand for a word: its first, and others in their order. */
const isAbbreviation = (letters: string, word: string): boolean =>
  new RegExp(`^${[...letters].join('.*')}`).test(word.toLowerCase())

export const fieldTitle = (registry: Registry, field: Field): string => {
  const { name, label } = field
  if (label) return label
  const target = targetOf(registry, field)
  const stem = target ? name.replace(/_id$/, '') : name
  if (target && stem && isAbbreviation(stem, target.name)) return target.name
  const words = stem.split('_').filter(Boolean)
  const title = words.map((word) => (initialisms.has(word) ? word.toUpperCase() : word)).join(' ')
  return title === '' ? name : title.charAt(0).toUpperCase() + title.slice(1)
}

export const bothNames = (registry: Registry, field: Field): Html =>
  html`${fieldTitle(registry, field)} <code class="raw">${field.name}</code>`
