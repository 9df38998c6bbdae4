/** Random valid projects: every kind and option, rules between fields, unique values, references, and demo rows. */
import fc from 'fast-check'
import { type Access, claim, type Fields } from '../../engine/descriptor/define.js'
import {
  boolean,
  date,
  decimal,
  integer,
  json,
  now,
  number,
  text,
  timestamp,
  today,
  uuid,
} from '../../engine/descriptor/index.js'
import { type Animal, type Animals, rule } from './animal.js'

type Spec = Fields[string]
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const flag = maybe(fc.constant(true as const))
const listed = { filter: flag, sort: flag }

const spec = <K extends Spec['kind']>(
  make: (options: never) => unknown,
  options: Record<string, fc.Arbitrary<unknown>>,
) =>
  fc.record(options).map((given) => {
    const present = Object.entries(given).filter(([, value]) => value !== undefined)
    return make(Object.fromEntries(present) as never) as Spec & { kind: K }
  })

const bounds = <T>(values: fc.Arbitrary<T>, compare: (a: T, b: T) => number) =>
  fc.tuple(maybe(values), maybe(values)).map(([a, b]) => {
    const [min, max] = a !== undefined && b !== undefined && compare(a, b) > 0 ? [b, a] : [a, b]
    return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  })

const day = fc.integer({ min: -20_000, max: 30_000 }).map((n) => new Date(n * 86_400_000).toISOString())
const byText = (a: string, b: string) => (a < b ? -1 : 1)
const patterns = [
  '[A-Z]{2}',
  '\\d\\d:\\d\\d',
  '[01]',
  '(?:a|b)+',
  '[^@\\s]+@[a-z]+\\.(?:com|org)',
  '\\p{Lu}\\p{Ll}*',
  'x{3}',
  '.{1,4}',
  '[а-я]+',
]

const spread = <A extends object>(
  rules: fc.Arbitrary<A>,
  make: (options: never) => unknown,
  options: Record<string, fc.Arbitrary<unknown>>,
) =>
  rules.chain((given) =>
    spec(make, {
      ...options,
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fc.constant(value)])),
    }),
  )

const plainField: fc.Arbitrary<Spec> = fc.oneof(
  spec(text, {
    ...listed,
    unique: flag,
    default: maybe(fc.constantFrom(() => 'made', '', 'é')),
    redacted: fc.constant(undefined),
  }).map((made) => withoutDefault(made)),
  spec(text, { redacted: fc.constant(true), default: maybe(fc.constant('secret')) }),
  spread(
    fc.constantFrom(...patterns).map((pattern) => ({ pattern, maxLength: 30 })),
    text,
    { ...listed, unique: flag },
  ),
  spread(
    fc.tuple(fc.nat(6), fc.nat(6)).map(([a, b]) => ({ minLength: Math.min(a, b), maxLength: Math.max(a, b) })),
    text,
    { ...listed, unique: flag },
  ),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'É', 'nothing', 'x y', '0'), { minLength: 1 }).chain((oneOf) =>
    spec(text, {
      oneOf: fc.constant(oneOf),
      filter: flag,
      unique: flag,
      next: maybe(fc.constant(Object.fromEntries(oneOf.slice(1).map((to, n) => [oneOf[n], [to]])))),
      start: maybe(fc.shuffledSubarray(oneOf, { minLength: 1 })),
    }),
  ),
  fc
    .uniqueArray(fc.integer({ min: -2, max: 5 }), { minLength: 1, maxLength: 4 })
    .chain((oneOf) => spec(integer, { oneOf: fc.constant(oneOf), filter: flag, unique: flag, sort: flag })),
  spread(
    bounds(fc.integer({ min: -5, max: 20 }), (a, b) => a - b),
    integer,
    { ...listed, unique: flag, range: flag },
  ),
  spread(
    bounds(
      fc.integer({ min: -8, max: 8 }).map((n) => n / 4),
      (a, b) => a - b,
    ),
    number,
    { ...listed, range: flag },
  ),
  spec(boolean, { ...listed, default: maybe(fc.boolean()) }),
  spread(
    bounds(
      day.map((text) => text.slice(0, 10)),
      byText,
    ),
    date,
    { ...listed, unique: flag, range: flag, default: fc.constant(undefined) },
  ),
  spread(bounds(day, byText), timestamp, { ...listed, unique: flag, range: flag }),
  spec(timestamp, { default: maybe(fc.constant(now)), filter: flag }),
  spec(date, { default: maybe(fc.constant(today)), sort: flag }),
  spec(timestamp, { managed: fc.constant(now), onUpdate: maybe(fc.constant(now)) }),
  spec(text, { managed: fc.constantFrom(now, today, true as const), filter: flag }),
  spec(uuid, { filter: flag, unique: flag }),
  fc.integer({ min: 1, max: 18 }).chain((digits) =>
    fc.integer({ min: 0, max: digits }).chain((places) =>
      spec(decimal, {
        digits: fc.constant(digits),
        places: fc.constant(places),
        ...listed,
        unique: flag,
        range: flag,
        default: fc.constant(undefined),
      }),
    ),
  ),
  spec(decimal, {
    digits: fc.constant(8),
    places: fc.constant(2),
    default: fc.constantFrom('0', '1.5', '-2.00'),
    range: flag,
  }),
  spec(json, { default: maybe(fc.constantFrom<unknown>({ a: [1] }, [], 'x', 0)), redacted: flag }),
)

/** A constant default of a unique field is refused. */
const withoutDefault = (made: Spec): Spec => {
  const { default: preset, unique, ...rest } = made.options as { default?: unknown; unique?: unknown }
  return {
    ...made,
    options: (unique ? { ...rest, unique } : { ...rest, ...(preset !== undefined && { default: preset }) }) as never,
  }
}

const idKinds = ['integer', 'uuid', 'text'] as const

interface Plan {
  readonly id: (typeof idKinds)[number]
  readonly fields: readonly Spec[]
  readonly references: readonly {
    to: number
    required: boolean
    unique: 0 | 1 | 2
    onDelete: 'restrict' | 'set null' | 'cascade' | undefined
    filter: true | undefined
  }[]
  readonly isRequired: readonly boolean[]
  readonly ruled: readonly (readonly [number, number, number])[]
  readonly scoped: readonly (readonly [number, number])[]
  readonly can: { create: boolean; update: boolean; delete: boolean }
  readonly rows: number
  /** How many references the rules of access follow; 0 without rules. */
  readonly guarded: number
}

const plan: fc.Arbitrary<Plan> = fc.record({
  id: fc.constantFrom(...idKinds, 'integer' as const),
  fields: fc.array(plainField, { minLength: 1, maxLength: 6 }),
  references: fc.array(
    fc.record({
      to: fc.nat(3),
      required: fc.boolean(),
      unique: fc.constantFrom(0, 0, 1, 2),
      onDelete: fc.constantFrom(undefined, 'restrict', 'set null', 'cascade'),
      filter: flag,
    }),
    { maxLength: 2 },
  ),
  isRequired: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  ruled: fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(3)), { maxLength: 2 }),
  scoped: fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 1 }),
  can: fc.record({ create: fc.constantFrom(true, true, true, false), update: fc.boolean(), delete: fc.boolean() }),
  rows: fc.constantFrom(0, 0, 1, 3),
  guarded: fc.constantFrom(0, 0, 1, 2, 3),
}) as fc.Arbitrary<Plan>

const comparisons = [
  ['<', (a: string | number, b: string | number) => a < b],
  ['<=', (a: string | number, b: string | number) => a <= b],
  ['!==', (a: unknown, b: unknown) => a !== b],
  ['differ in text', (a: unknown, b: unknown) => String(a) !== String(b)],
] as const

/** Rules that follow so many references, or fewer where there are no more; undefined where there is none. */
const accessOf = (animals: Animals, path: string, { guarded, can }: Plan): Access | undefined => {
  const names: string[] = []
  let fields = animals[path]?.fields ?? {}
  const find = (isReference: boolean) =>
    Object.entries(fields).find(([, { options }]) => {
      const { filter, redacted, references } = options as Record<string, unknown>
      return filter && !redacted && (references !== undefined) === isReference
    })
  while (names.length < guarded) {
    const found = find(true)
    if (!found) break
    const [name, { options }] = found
    names.push(name)
    fields = animals[(options as { references: string }).references]?.fields ?? {}
  }
  if (names.length === 0) return undefined
  const own = { [[...names, find(false)?.[0] ?? 'id'].join('.')]: claim('own') }
  return { read: ['keeper', own], ...(can.create && { create: 'keeper' }), ...(can.update && { update: own }) }
}

const withAccess = (animals: Animals, plans: readonly Plan[]): Animals =>
  Object.fromEntries(
    Object.entries(animals).map(([path, animal], n) => {
      const access = accessOf(animals, path, plans[n] as Plan)
      return [path, { ...animal, ...(access && { access }) }]
    }),
  )

const build = (plans: readonly Plan[]): Animals =>
  Object.fromEntries(
    plans.map((own, n): [string, Animal] => {
      const fields: Record<string, Spec> = {}
      const required: string[] = []
      for (const [index, field] of own.fields.entries()) {
        const name = `f${index}`
        const { next, start, ...options } = field.options as Record<string, unknown>
        // Only updates make steps, and only steps have a start.
        const steps = own.can.update && next ? { next, ...(start !== undefined && { start }) } : {}
        fields[name] = { ...field, options: { ...options, ...steps } } as Spec
        if (own.isRequired[index] && options['managed'] !== true && !options['redacted']) required.push(name)
      }
      for (const [index, { to, required: isRequired, unique, onDelete, filter }] of own.references.entries()) {
        const target = to % plans.length
        // Circles of required references need demo rows.
        const isBack = target >= n
        const name = `r${index}`
        const isCascade = onDelete === 'cascade' && !isBack
        const kind = plans[target]?.id ?? 'integer'
        fields[name] = {
          kind,
          options: {
            references: `things-${target}`,
            ...(unique === 1 && { unique: true as const }),
            ...(unique === 2 && { unique: ['f0'] }),
            ...(isCascade && { onDelete: 'cascade' as const }),
            ...(onDelete === 'set null' && !(isRequired && !isBack) && { onDelete: 'set null' as const }),
            ...(filter && { filter }),
          },
        } as Spec
        if (isRequired && !isBack) required.push(name)
      }
      const isOpen = (name: string) => !(fields[name]?.options as { redacted?: true } | undefined)?.redacted
      const json = (name: string) => fields[name]?.kind === 'json'
      for (const [a, b] of own.scoped) {
        const [name, within] = [`f${a}`, `f${b}`]
        const field = fields[name]
        const options = field?.options as Record<string, unknown> | undefined
        const isUsable = field && !['boolean', 'json', 'number'].includes(field.kind) && fields[within]?.kind !== 'json'
        if (
          isUsable &&
          a !== b &&
          fields[within] &&
          isOpen(name) &&
          isOpen(within) &&
          options?.['managed'] === undefined
        )
          fields[name] = { ...field, options: { ...options, unique: [within] } } as Spec
      }
      if (json('f0') || !isOpen('f0'))
        for (const [name, field] of Object.entries(fields)) {
          const { unique, ...others } = field.options as { unique?: unknown }
          if (Array.isArray(unique) && unique[0] === 'f0') fields[name] = { ...field, options: others } as Spec
        }
      const rules = own.ruled.flatMap(([a, b, how]) => {
        const [left, right] = [`f${a}`, `f${b}`]
        const [words, holds] = comparisons[how] as (typeof comparisons)[number]
        if (a === b || !fields[left] || !fields[right] || !isOpen(left) || !isOpen(right)) return []
        if (how < 2 && fields[left].kind !== fields[right].kind) return []
        return [rule([left, right], holds as never, `${left} ${words} ${right}`)]
      })
      return [
        `things-${n}`,
        { name: `Thing ${n}`, id: own.id, fields, required, ...(rules.length > 0 && { rules }), ...own.can },
      ]
    }),
  )

export const randomProject = (seed: number): Animals => {
  const [plans = []] = fc.sample(fc.array(plan, { minLength: 1, maxLength: 4 }), { seed, numRuns: 1 })
  return withAccess(build(plans), plans)
}
