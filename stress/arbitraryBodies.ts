/** Generates bodies of creates and updates as JSON text: valid ones with arbitrary values, and invalid ones. */
import fc from 'fast-check'
import { fromUnits } from '../engine/descriptor/decimals.js'
import { isExact, isNumber, isWhole, type Kind, kindOf } from '../engine/descriptor/kinds/index.js'
import {
  type Field,
  type GivenValue,
  isMandatory,
  type Resource,
  updatableFields,
  writableFields,
} from '../engine/descriptor/registry.js'
import { brokenRule } from '../support/oracle.js'
import { text } from './arbitraryText.js'

/** The members of a JSON object in order; a name may occur twice. */
export type Members = readonly (readonly [name: string, literal: string])[]

/** A body with a single error, and the issue that reports it; its type is undefined if it depends on the value. */
export interface InvalidBody {
  readonly members: Members
  readonly field: string
  readonly type: string | undefined
}

export type BodyMethod = 'POST' | 'PATCH'

/** Returns the ids of a resource. */
export type Ids = (path: string) => readonly number[]

/** Serializes an object, with optional white space between its tokens. */
export const toJson = (members: Members, space = ''): string =>
  `{${space}${members.map(([name, literal]) => `${JSON.stringify(name)}${space}:${space}${literal}`).join(`${space},`)}${space}}`

const escapeNonAscii = (literal: string): string =>
  literal.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A moment in UTC and with an offset. */
const momentForms = (ms: number): string[] => {
  const hour = 3_600_000
  const forms = [new Date(ms).toISOString(), new Date(ms + 5.5 * hour).toISOString().replace('Z', '+05:30')]
  return forms.map((form) => JSON.stringify(form))
}

/** The spellings of a value in JSON. */
const spellings = (kind: Kind, value: GivenValue): string[] => {
  const plain = Object.is(value, -0) ? '-0.0' : JSON.stringify(value)
  if (isWhole({ kind })) return [plain, `${value}.0`, `${value}e0`, `${value}.00E+0`]
  if (isNumber({ kind }) && !isExact({ kind })) return [plain, Number(value).toExponential()]
  if (kindOf(kind).input === 'datetime-local') return momentForms(Date.parse(String(value)))
  return [plain, escapeNonAscii(plain)]
}

const edgeNumbers = [0.1 + 0.2, 5e-324, Number.MAX_VALUE, -0, 1e21, 1e-7, 2 ** 53, 123456789012345680000]

/** Values of a kind, most of them within the bounds of the field. */
const arbitraryValue = (field: Field): fc.Arbitrary<GivenValue> => {
  const { kind, name, min, max, maxLength, oneOf, pattern, digits = 18, places } = field
  if (oneOf) return fc.constantFrom(...oneOf)
  if (pattern !== undefined) return fc.stringMatching(new RegExp(`^(?:${pattern})$`))
  // An offset must not lead to another millennium.
  const moment = (first = '0002-01-01', last = '9998-12-31') =>
    fc.date({ min: new Date(first), max: new Date(last), noInvalidDate: true })
  const arbitraries: Partial<Record<Kind, () => fc.Arbitrary<GivenValue>>> = {
    text: () => text.map((value) => [...value].slice(0, maxLength).join('')),
    integer: () => fc.integer({ min: Number(min ?? 1 - 2 ** 53), max: Number(max ?? 2 ** 53 - 1) }),
    number: () =>
      fc.oneof(
        fc.double({ min: Number(min ?? -1e308), max: Number(max ?? 1e308), noNaN: true }),
        fc.constantFrom(...edgeNumbers),
      ),
    boolean: () => fc.boolean(),
    date: () =>
      fc.oneof(
        moment(min as string, max as string).map((value) => value.toISOString().slice(0, 10)),
        fc.constantFrom('2024-02-29', '0001-01-01', '9999-12-31'),
      ),
    uuid: () => fc.uuid(),
    decimal: () =>
      fc
        .bigInt({ min: -(10n ** BigInt(digits)) + 1n, max: 10n ** BigInt(digits) - 1n })
        .map((units) => fromUnits(units, { places })),
    json: () => fc.json({ maxDepth: 5 }).map((value) => JSON.parse(value) ?? 0),
    timestamp: () => moment(min as string, max as string).map((value) => value.toISOString()),
  }
  return arbitraries[kind]?.() ?? fc.nat().map((n) => kindOf(kind).sample(n, name, field))
}

/** Values at the bounds of a field's rules, and just inside and past them. */
const boundValues = (field: Field): GivenValue[] => {
  const { kind, min, max, minLength = 0, maxLength = 0, oneOf, pattern, example } = field
  const near = [min, max].flatMap((bound): GivenValue[] => {
    const { scale } = kindOf(kind)
    if (bound === undefined || !scale) return []
    if (isNumber(field) && !isExact(field)) return [-1e-9, 0, 1e-9].map((by) => Number(bound) + by)
    return [-1n, 0n, 1n].map((by) => scale.fromSteps(scale.toSteps(bound, field) + by, field))
  })
  const lengths = [minLength - 1, minLength, maxLength, maxLength + 1].filter((length) => length >= 0)
  const texts = minLength + maxLength > 0 ? lengths.flatMap((length) => ['😀'.repeat(length), 'e'.repeat(length)]) : []
  const others = (oneOf ?? []).flatMap((allowed): GivenValue[] =>
    typeof allowed === 'number' ? [allowed - 1, allowed + 1] : [`${allowed} `, allowed.toString().toUpperCase(), ''],
  )
  const mismatches = pattern === undefined ? [] : ['', `${example}\n`, ` ${example}`, `x${example}`, `${example}é`]
  return [...near, ...texts, ...others, ...mismatches]
}

const arbitraryLiteral = (field: Field, ids: Ids): fc.Arbitrary<string> => {
  if (field.references) {
    const rowIds = ids(field.references)
    return fc.nat(Math.max(0, rowIds.length - 1)).map((index) => String(rowIds[index] ?? 1))
  }
  const bounds = boundValues(field)
  const values = bounds.length > 0 ? fc.oneof(arbitraryValue(field), fc.constantFrom(...bounds)) : arbitraryValue(field)
  return values
    .filter((value) => brokenRule(field, value) === undefined)
    .chain((value) => fc.constantFrom(...spellings(field.kind, value)))
}

const sentFields = (resource: Resource, method: BodyMethod): Field[] =>
  method === 'POST' ? writableFields(resource) : updatableFields(resource)

const mustBeSent = (field: Field, method: BodyMethod): boolean => method === 'POST' && isMandatory(field)

const takesNull = (field: Field, method: BodyMethod): boolean =>
  method === 'POST' ? !isMandatory(field) : !field.required && !field.redacted

/** Valid bodies, except that a unique value may already exist. */
export const validMembers = (resource: Resource, method: BodyMethod, ids: Ids): fc.Arbitrary<Members> =>
  fc
    .tuple(
      ...sentFields(resource, method).map((field) => {
        const value = arbitraryLiteral(field, ids).map((literal): Members => [[field.name, literal]])
        const others: Members[] = [
          ...(mustBeSent(field, method) ? [] : [[]]),
          ...(takesNull(field, method) ? [[[field.name, 'null'] as const]] : []),
        ]
        if (others.length === 0) return value
        return fc.oneof({ weight: 2, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(...others) })
      }),
    )
    .chain((members) => fc.shuffledSubarray(members.flat(), { minLength: members.flat().length }))

const unusualNames = ['', ' ', '\u0000', ...'__proto__ constructor toString hasOwnProperty ID é 0 $ne'.split(' ')]

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Invalid bodies: a valid one with a single error. */
export const invalidBody = (resource: Resource, method: BodyMethod, ids: Ids): fc.Arbitrary<InvalidBody> =>
  validMembers(resource, method, ids).chain((valid) => {
    const fields = sentFields(resource, method)
    const without = (name: string) => valid.filter(([other]) => other !== name)
    const withValue = (name: string, type: string | undefined, literal: string): InvalidBody => ({
      members: [...without(name), [name, literal]],
      field: name,
      type,
    })
    const fixed = resource.fields.map(({ name }) => name)
    const unknown = [...unusualNames, ...fixed].filter((name) => !fields.some((field) => field.name === name))
    const unknownMember = fc
      .tuple(
        fc.constantFrom(...unknown),
        fc.constantFrom('1', 'null', '{"x":1}', nested(2_000), `[${'1,'.repeat(10_000)}1]`),
      )
      .map(([name, literal]) => withValue(name, 'extra_forbidden', literal))
    const wrong = fields.flatMap((field) => {
      const { name, kind, references, redacted } = field
      const ofKind = [...kindOf(kind).wrongLiterals, nested(300)].map((literal) => withValue(name, undefined, literal))
      const past = (references ? [] : boundValues(field)).flatMap((value) => {
        const type = brokenRule(field, value)
        return type === undefined ? [] : spellings(kind, value).map((literal) => withValue(name, type, literal))
      })
      const missing = mustBeSent(field, method) ? [{ members: without(name), field: name, type: 'missing' }] : []
      const nullType = method === 'PATCH' && redacted ? 'redacted' : 'missing'
      const noNull = takesNull(field, method) ? [] : [withValue(name, nullType, 'null')]
      return [
        fc.oneof(
          ...[ofKind, past, missing, noNull]
            .filter(({ length }) => length > 0)
            .map((bodies) => fc.constantFrom(...bodies)),
        ),
      ]
    })
    return fc.oneof({ weight: 1, arbitrary: unknownMember }, ...wrong.map((arbitrary) => ({ weight: 2, arbitrary })))
  })
