/** The rules of a field in words: what a form says about a value before anything is sent. */
import type { Issue } from '../contract/errors.js'
import { isMoment, kindOf } from '../descriptor/kinds/index.js'
import {
  type Field,
  type Registry,
  type Resource,
  updatableFields,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { sampleValue } from '../descriptor/samples.js'
import { findViolation } from '../descriptor/valueRules.js'
import { readable } from './format.js'
import { fieldTitle } from './names.js'

const characters = (count: number): string => (count === 1 ? '1 character' : `${count} characters`)

const lengthWords = ({ minLength: least, maxLength: most }: Field): string | undefined => {
  if (least !== undefined && least > 0 && most !== undefined)
    return least === most ? `Exactly ${characters(most)}` : `${least} to ${characters(most)}`
  if (most !== undefined) return `At most ${characters(most)}`
  return least !== undefined && least > 0 ? `At least ${characters(least)}` : undefined
}

const boundWords = (field: Field): string | undefined => {
  const [least, most] = [field.min, field.max].map((bound) =>
    bound === undefined ? undefined : readable(field, bound),
  )
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  if (least !== undefined) return isMoment(field) ? `${least} or later` : `At least ${least}`
  if (most !== undefined) return isMoment(field) ? `${most} or earlier` : `At most ${most}`
  return undefined
}

/** A value that follows the pattern of a field, if it has one. */
export const likeValue = ({ demo }: Resource, field: Field): string | undefined => {
  if (field.pattern === undefined) return undefined
  const examples: Value[] = [field.example ?? null, ...demo.slice(0, 10).map((row) => row[field.name] ?? null)]
  const example = examples.find((value) => typeof value === 'string' && !findViolation(field, value))
  const like = example ?? sampleValue(field, 1)
  return like === undefined ? undefined : String(like)
}

/** A message of a descriptor with the titles of its fields; only names that are no words of a sentence are replaced. */
export const inTitles = (registry: Registry, { fields }: Resource, message: string): string => {
  const text = fields.reduce((words, field) => {
    const name = field.name.includes('_') ? `\\b${field.name}\\b` : `^${field.name}\\b`
    return words.replaceAll(new RegExp(name, 'g'), () => fieldTitle(registry, field))
  }, message)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What is wrong, in the words of a form: with the titles of its fields, and an example instead of an expression. */
export const issueWords = (
  registry: Registry,
  resource: Resource,
  { type, loc, msg }: Pick<Issue, 'type' | 'loc' | 'msg'>,
  typed: string | undefined,
): string => {
  const field = resource.fields.find(({ name }) => name === loc.at(-1))
  const like = field && likeValue(resource, field)
  if (field && type === 'string_pattern_mismatch' && like !== undefined)
    return `${fieldTitle(registry, field)} must look like ${like}${field.redacted ? '' : `; “${typed}” does not`}.`
  return inTitles(registry, resource, msg)
}

/** What must hold between this field and others; said at the last of them that a form can have. */
const betweenWords = (registry: Registry, resource: Resource, { name }: Field, isUpdate: boolean): string[] => {
  const inForm = (isUpdate ? updatableFields : writableFields)(resource).map((field) => field.name)
  const isSaidHere = (fields: readonly string[]) => fields.findLast((one) => inForm.includes(one)) === name
  return (resource.rules ?? [])
    .filter(({ fields }) => isSaidHere(fields))
    .map(({ message }) => inTitles(registry, resource, message))
}

/** The rules of a field, as sentences without their full stops. */
export const ruleWords = (registry: Registry, resource: Resource, field: Field, isUpdate: boolean): string[] => {
  const { kind, unique, oneOf } = field
  const like = likeValue(resource, field)
  const bounds = oneOf ? undefined : boundWords(field)
  const ofKind = kindOf(kind).words?.(field, bounds)
  const first = [lengthWords(field), like === undefined ? undefined : `like ${like}`].filter(Boolean).join(', ')
  const title = (name: string): string => {
    const other = resource.fields.find((one) => one.name === name)
    return other ? fieldTitle(registry, other) : name
  }
  const within = unique?.length ? ` for the same ${unique.map(title).join(' and ')}` : ''
  return [
    ofKind,
    first.charAt(0).toUpperCase() + first.slice(1),
    // A kind may have named them.
    bounds && ofKind?.startsWith(bounds) ? undefined : bounds,
    unique && `Must be unique${within}`,
    ...betweenWords(registry, resource, field, isUpdate),
  ].flatMap((words) => (words ? [words.replace(/\.$/, '')] : []))
}
