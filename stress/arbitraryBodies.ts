/** Generates create bodies as JSON text: valid ones with arbitrary values, and invalid ones. */
import fc from 'fast-check'
import { kindOf } from '../engine/descriptor/kinds.js'
import { type Field, isMandatory, type Resource, writableFields } from '../engine/descriptor/registry.js'
import { sampleValue } from '../engine/descriptor/samples.js'
import { refusalOf, ruleNames } from '../engine/descriptor/valueRules.js'
import { text } from './arbitraryText.js'

/** The members of a JSON object in order; a name may occur twice. */
export type Members = readonly (readonly [name: string, literal: string])[]

/** Returns the ids of a resource. */
export type Ids = (path: string) => readonly number[]

/** Serializes an object, with optional white space between its tokens. */
export const toJson = (members: Members, space = ''): string =>
  `{${space}${members.map(([name, literal]) => `${JSON.stringify(name)}${space}:${space}${literal}`).join(`${space},`)}${space}}`

const escapeNonAscii = (literal: string): string =>
  literal.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const textLiteral = text.chain((value) => fc.constantFrom(JSON.stringify(value), escapeNonAscii(JSON.stringify(value))))

const integerLiteral = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.constantFrom(0, 1, -1, 2 ** 53 - 1, 1 - 2 ** 53))
  .chain((n) => fc.constantFrom(`${n}`, `${n}.0`, `${n}e0`, `${n}.00E+0`))

const numberLiteral = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.constantFrom(0.1 + 0.2, 5e-324, Number.MAX_VALUE, -0, 1e21, 1e-7, 2 ** 53, 123456789012345680000),
  )
  .chain((n) => fc.constantFrom(Object.is(n, -0) ? '-0.0' : String(n), n.toExponential()))

/** Values at the bounds of a field's rules, and just past them, as JSON; `fit` says whether those that the field accepts. */
const boundValues = (field: Field, fit: boolean): string[] => {
  const { min, max, minLength = 0, maxLength = 0, oneOf = [], references } = field
  if (references) return []
  const near = [min, max].flatMap((bound): (string | number)[] => {
    if (typeof bound === 'number') return [bound - 1, bound, bound + 1]
    if (typeof bound !== 'string') return []
    const moments = [-1, 0, 1].map((days) => new Date(Date.parse(bound) + days * 86_400_000).toISOString())
    return moments.map((moment) => moment.slice(0, kindOf(field.kind).input === 'date' ? 10 : undefined))
  })
  const texts = [minLength - 1, minLength, maxLength, maxLength + 1].filter((length) => length > 0)
  const others = oneOf.length > 0 ? ['none of these', -12_345] : []
  const values = [...near, ...oneOf, ...others, ...(kindOf(field.kind).isText ? texts.map((n) => '😀'.repeat(n)) : [])]
  return values.filter((value) => (refusalOf(field, value) === undefined) === fit).map((value) => JSON.stringify(value))
}

const literalOf = (field: Field, ids: Ids): fc.Arbitrary<string> => {
  if (field.references) {
    const known = ids(field.references)
    return fc.nat(Math.max(0, known.length - 1)).map((index) => String(known[index] ?? 1))
  }
  const literals: Partial<Record<Field['kind'], fc.Arbitrary<string>>> = {
    text: textLiteral,
    integer: integerLiteral,
    number: numberLiteral,
  }
  const isFree = ruleNames.every((name) => field[name] === undefined)
  const samples = fc.nat(50).map((n) => JSON.stringify(sampleValue(field, n)))
  if (isFree) return literals[field.kind] ?? samples
  const bounds = boundValues(field, true)
  return bounds.length > 0 ? fc.oneof(samples, fc.constantFrom(...bounds)) : samples
}

/** Valid bodies, except that a unique value may already exist. */
export const validMembers = (resource: Resource, ids: Ids): fc.Arbitrary<Members> =>
  fc
    .tuple(
      ...writableFields(resource).map((field) => {
        const value = literalOf(field, ids).map((literal) => [[field.name, literal] as const])
        return isMandatory(field)
          ? value
          : fc.oneof(
              { weight: 4, arbitrary: value },
              { weight: 1, arbitrary: fc.constant([]) },
              { weight: 1, arbitrary: fc.constant([[field.name, 'null'] as const]) },
            )
      }),
    )
    .chain((members) => fc.shuffledSubarray(members.flat(), { minLength: members.flat().length }))

const unusualNames = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'id',
  'ID',
  '\u0000',
  'é',
  '0',
  '$ne',
]

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Invalid bodies: a valid one with a single error. */
export const invalidMembers = (resource: Resource, ids: Ids): fc.Arbitrary<Members> =>
  validMembers(resource, ids).chain((valid) => {
    const fields = writableFields(resource)
    const without = (name: string) => valid.filter(([other]) => other !== name)
    const managed = resource.fields.filter((field) => field.managed).map(({ name }) => name)
    const unknown = [...unusualNames, ...managed].filter((name) => !fields.some((field) => field.name === name))
    const unknownMember = fc
      .tuple(
        fc.constantFrom(...unknown),
        fc.constantFrom('1', 'null', '{"x":1}', nested(2_000), `[${'1,'.repeat(20_000)}1]`),
      )
      .map(([name, literal]): Members => [...valid, [name, literal]])
    if (fields.length === 0) return unknownMember
    const wrongValue = fc
      .constantFrom(...fields)
      .chain((field) =>
        fc
          .constantFrom(...kindOf(field.kind).wrong, ...boundValues(field, false), nested(300))
          .map((literal): Members => [...without(field.name), [field.name, literal]]),
      )
    const wrongMember = fc.oneof(wrongValue, unknownMember)
    const mandatory = fields.filter(isMandatory)
    if (mandatory.length === 0) return wrongMember
    const missingMember = fc
      .constantFrom(...mandatory)
      .chain(({ name }) => fc.constantFrom<Members>(without(name), [...without(name), [name, 'null']]))
    return fc.oneof({ weight: 3, arbitrary: wrongMember }, { weight: 1, arbitrary: missingMember })
  })
