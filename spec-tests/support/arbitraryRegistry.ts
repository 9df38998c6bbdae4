/** Random legal descriptors, as plain data so that a failing one can be printed, and the registry that they make. */
import fc from 'fast-check'
import { now, today } from '../../engine/descriptor/index.js'
import { type Registry, resourceFrom } from '../../engine/descriptor/registry.js'
import type { FileError } from '../../engine/descriptor/registryError.js'
import { verify } from '../../engine/descriptor/verify.js'

interface FieldPlan {
  readonly kind: 'text' | 'integer' | 'number'
  readonly source: 'client' | 'constant' | 'today' | 'now' | 'function' | 'managed' | 'managed now' | 'managed counter'
  readonly target: number
  readonly isReference: boolean
  readonly isRedacted: boolean
  readonly isFilter: boolean
  readonly isRequired: boolean
  readonly unique: 'no' | 'alone' | 'within'
  readonly scope: readonly number[]
  readonly hasExample: boolean
}
interface ResourcePlan {
  readonly fields: readonly FieldPlan[]
  readonly create: boolean
}

const fieldPlan: fc.Arbitrary<FieldPlan> = fc.record({
  kind: fc.constantFrom('text', 'text', 'integer', 'integer', 'number'),
  source: fc.constantFrom(
    'client',
    'client',
    'client',
    'constant',
    'today',
    'now',
    'function',
    'managed',
    'managed now',
    'managed counter',
  ),
  target: fc.nat(2),
  isReference: fc.boolean(),
  isRedacted: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  isFilter: fc.boolean(),
  isRequired: fc.boolean(),
  unique: fc.constantFrom('no', 'no', 'alone', 'within'),
  scope: fc.array(fc.nat(6), { minLength: 1, maxLength: 2 }),
  hasExample: fc.boolean(),
})

export const registryPlan: fc.Arbitrary<readonly ResourcePlan[]> = fc.array(
  fc.record({ fields: fc.array(fieldPlan, { minLength: 1, maxLength: 7 }), create: fc.boolean() }),
  { minLength: 1, maxLength: 3 },
)

const letters = 'abcdefgh'
let counter = 0

/** The options of a field, without those that contradict each other. */
const optionsOf = (plan: FieldPlan, own: number, index: number, all: readonly ResourcePlan[]) => {
  const { kind, source, isRedacted } = plan
  const isReference = plan.isReference && kind === 'integer'
  const target = plan.target % all.length
  const constant = kind === 'text' ? 'some text' : kind === 'integer' ? 1 : 0.5
  const isUnique = kind !== 'number' && !isRedacted && plan.unique !== 'no'
  const siblings = all[own]?.fields ?? []
  const scope = [...new Set(plan.scope)].filter((n) => n !== index && siblings[n] && !siblings[n].isRedacted)
  const isAlone = plan.unique === 'alone' || scope.length === 0
  const clock = { today, now }[source as 'today']
  const managed = {
    managed: true as const,
    'managed now': kind === 'text' ? now : () => constant,
    'managed counter': () => (kind === 'text' ? `number ${counter++}` : counter++),
  }[source as 'managed']
  const preset =
    source === 'constant' ? constant : source === 'function' ? () => constant : kind === 'text' ? clock : undefined
  const isRepeated = source === 'managed now' || (isReference && source !== 'managed')
  return {
    ...(plan.isFilter && kind !== 'number' && !isRedacted && { filter: true }),
    ...(isUnique && !isAlone && managed === undefined && { unique: scope.map((n) => letters[n]) }),
    ...(isUnique && isAlone && !(managed && isRepeated) && { unique: true }),
    ...(isReference && { references: `legal-${letters[target]}` }),
    ...(isRedacted && { redacted: true }),
    ...(plan.hasExample && !isRedacted && { example: constant }),
    ...(managed !== undefined && { managed: isReference && source === 'managed counter' ? true : managed }),
    ...(managed === undefined &&
      preset !== undefined &&
      !(isUnique && isAlone && source === 'constant') && { default: preset }),
  }
}

const descriptorOf = (plan: ResourcePlan, own: number, all: readonly ResourcePlan[]) => {
  const fields = plan.fields.map((field, index) => ({
    field,
    name: letters[index] as string,
    options: optionsOf(field, own, index, all) as { managed?: unknown; references?: string },
  }))
  // Only references to earlier resources may be required: others could be a cycle.
  const isEarlier = (references = '') => references === '' || letters.indexOf(references.slice(-1)) < own
  const required = fields.filter(
    ({ field, options }) =>
      field.isRequired && !field.isRedacted && options.managed !== true && isEarlier(options.references),
  )
  return {
    name: `Legal ${letters[own]}`,
    area: 'Legal',
    table: `legal_${letters[own]}`,
    fields: Object.fromEntries(fields.map(({ field, name, options }) => [name, { kind: field.kind, options }])),
    required: required.map(({ name }) => name),
    create: plan.create,
  }
}

/** The registry of a plan; throws if the verification objects to it. */
export const registryOf = (plan: readonly ResourcePlan[]): Registry => {
  const problems: FileError[] = []
  const modules = plan.map((one, index) => {
    const path = `legal-${letters[index]}`
    return { file: path, path, module: { default: descriptorOf(one, index, plan) } }
  })
  const parsed = verify(modules, problems)
  if (problems.length > 0) throw new Error(problems.map(({ file, message }) => `${file}: ${message}`).join('\n'))
  return parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor, []))
}
