/** The controls of a long form in groups, with links that jump to them: a form of 45 fields is read in parts. */
import { isMoment, kindOf } from '../descriptor/kinds/index.js'
import type { Field, Registry, Resource } from '../descriptor/registry.js'
import { control } from './controls.js'
import type { FormView } from './controlTexts.js'
import { isNumeric } from './format.js'
import { type Html, html } from './html.js'

/** A form of so many fields needs no groups. */
const mostInOne = 14

/** As many fields whose names begin with the same word are a group of their own. */
const leastAlike = 3

const firstWord = ({ name }: Field): string => name.split('_')[0] ?? name

/** What a field is about: what must be given comes first, then what names have in common, then what kinds have. */
const groupTitle = (field: Field, alike: ReadonlyMap<string, number>): string => {
  const word = firstWord(field)
  if (field.required) return 'Required'
  if (field.references !== undefined) return 'Belongs to'
  if (field.name.includes('_') && (alike.get(word) ?? 0) >= leastAlike)
    return word.charAt(0).toUpperCase() + word.slice(1)
  if (isMoment(field)) return 'Dates and times'
  if (isNumeric(field)) return 'Numbers'
  if (kindOf(field.kind).input === 'checkbox') return 'Yes or no'
  return field.oneOf ? 'Choices' : 'Texts'
}

export const fieldGroups = (fields: readonly Field[]): Map<string, Field[]> => {
  const alike = new Map<string, number>()
  const optional = fields.filter(({ required, references }) => !required && references === undefined)
  for (const field of optional) alike.set(firstWord(field), (alike.get(firstWord(field)) ?? 0) + 1)
  const groups = new Map<string, Field[]>(fields.some(({ required }) => required) ? [['Required', []]] : [])
  for (const field of fields) {
    const title = groupTitle(field, alike)
    groups.set(title, [...(groups.get(title) ?? []), field])
  }
  return groups
}

export const controlGroups = (
  registry: Registry,
  resource: Resource,
  fields: readonly Field[],
  view: FormView,
): Html | Html[] => {
  const render = (field: Field) => control(registry, resource, field, view)
  if (fields.length <= mostInOne) return fields.map(render)
  const groups = [...fieldGroups(fields)]
  const links = groups.map(
    ([title, members], n) =>
      html`<li><a href="#group-${n}">${title} <span class="figure">${members.length}</span></a></li>`,
  )
  const sets = groups.map(
    ([title, members], n) =>
      html`<fieldset id="group-${n}" tabindex="-1"><legend>${title}</legend>${members.map(render)}</fieldset>`,
  )
  return html`<nav class="jump" aria-label="Groups of fields"><ul>${links}</ul></nav>${sets}`
}
