/** The options of a field, one row each: what it takes, the kinds that take it, its rule for values, and what contradicts it. */
import { z } from 'zod'
import { describeClock } from './clock.js'
import { maxDecimalDigits } from './decimals.js'
import { parseJson } from './jsonText.js'
import {
  canonicalOf,
  type GivenValue,
  type IdKind,
  idKinds,
  isValueOf,
  type Kind,
  type KindSpec,
  kindNames,
  kindOf,
} from './kinds/index.js'
import { isForeignName, isName } from './names.js'
import { didYouMean, pathHint } from './nearest.js'
import { compilePattern, maxPatternLength } from './pattern.js'
import { formatValue, type Report } from './registryError.js'
import { aFunction, anObject, filledText, flag, names, type Shape, type Shapes, sentence, shape } from './shapes.js'
import { countCodePoints, type Violation } from './violations.js'

/** Stands for the type of a field's values in the shape of an option. */
interface FieldValue {
  readonly isFieldValue: true
}

/** The type of an option for a field with values of type V. */
type Fill<T, V> = T extends FieldValue
  ? V
  : T extends () => FieldValue
    ? () => V
    : T extends readonly FieldValue[]
      ? readonly V[]
      : T extends Readonly<Record<string, readonly FieldValue[]>>
        ? Readonly<Record<string, readonly V[]>>
        : T

/** A rule for the values of a field. */
interface ValueRule {
  /** The type of a violation, and the key of the rule in its `ctx`. */
  readonly violation: readonly [type: string, key: string]
  readonly allows: (optionValue: never, spec: KindSpec) => (value: never) => boolean
  /** In JSON Schema; by default the rule has the same name there. */
  readonly keywords?: (optionValue: never) => Readonly<Record<string, unknown>>
}

/** A resource that a field may reference. */
export interface Target {
  readonly path: string
  /** Undefined if its file has no valid table. */
  readonly table: string | undefined
  readonly existing?: boolean | undefined
  readonly id?: IdKind | undefined
}

/** What decides whether the options of a field contradict each other, or the rest of the descriptor. */
export interface CheckedField {
  readonly name: string
  readonly kind: Kind
  readonly options: Options<GivenValue>
  readonly isRequired: boolean
  readonly isUpdatable: boolean
  readonly isCreatable: boolean
  /** Whether a rule of `access` compares it with a claim, or follows it. */
  readonly isInAccess: boolean
  /** Whether the table belongs to another program. */
  readonly isExisting: boolean
  /** The options of all fields of the resource. */
  readonly fields: Readonly<Record<string, Options<GivenValue>>>
  readonly targets: readonly Target[]
  /** The resource that it references. */
  readonly target: Target | undefined
  /** Why a value breaks the rules; passed on, because it reads them from the rows. */
  readonly findViolation: (rules: { kind: Kind } & Options<GivenValue>, value: unknown) => Violation | undefined
}

interface OptionRow<T, K extends Kind> {
  readonly shape: Shape<T> | ((spec: KindSpec) => Shape<T>)
  /** By default all kinds. */
  readonly kinds?: readonly K[]
  /** Whether it would reveal the values of a redacted field. */
  readonly revealsValues?: true
  readonly rule?: ValueRule
  /** Reports what contradicts an option that is given. A block, because TypeScript infers the types of options from the rows. */
  readonly check?: (optionValue: Fill<T, GivenValue>, field: CheckedField, report: Report) => void
}

const option = <T, K extends Kind = Kind>(row: OptionRow<T, K>): OptionRow<T, K> => row

const allBut = <K extends Kind>(...excluded: K[]) =>
  kindNames.filter((kind): kind is Exclude<Kind, K> => !excluded.includes(kind as K))

const schemaOf = (spec: KindSpec) => kindOf(spec.kind).body(spec) as z.ZodType<FieldValue>
const value = (spec: KindSpec) => shape(kindOf(spec.kind).expected, schemaOf(spec))
const functionOfValue = aFunction<() => FieldValue>()
export const foreignName = shape('a name such as "EmployeeId"', z.string().refine(isForeignName))
const length = shape('a number of characters', z.int().min(0))
const roles = z.array(filledText).nonempty().readonly()

const toComparable = (spec: KindSpec, input: GivenValue) =>
  kindOf(spec.kind).comparable?.(input as never, spec) ?? canonicalOf(spec, input)

/** JSON Schema has bounds of numbers only. */
const boundKeywords = (keyword: string) => (bound: GivenValue) => ({
  [typeof bound === 'string' ? `x-${keyword}` : keyword]: bound,
})

/** Why a field cannot be in a list, after the name of the property. */
export type FieldCheck = (name: string, options: Options<GivenValue>) => string | false | undefined

/** A field whose value a message about several fields would tell. */
export const revealedField: FieldCheck = (name, { redacted, readBy }) =>
  (redacted || readBy) &&
  `names "${name}", which ${redacted ? 'is redacted' : 'has readBy'}: errors would reveal its values`

/** Checks a list of names of fields. */
export const checkFieldList = (
  property: string,
  list: readonly string[],
  fields: CheckedField['fields'],
  report: Report,
  check: FieldCheck,
): void => {
  const fieldNames = Object.keys(fields)
  for (const [index, name] of list.entries()) {
    const options = Object.hasOwn(fields, name) ? fields[name] : undefined
    const unknown = !options && `names the unknown field "${name}"${didYouMean(name, fieldNames)}`
    const reason = check(name, options ?? {}) || unknown
    if (reason) report(`${property} ${reason}`, property, index)
    if (list.indexOf(name) < index) report(`${property} names "${name}" twice`, property, index)
  }
}

const checkFunction = (name: string, compute: () => unknown, spec: KindSpec, report: Report): unknown => {
  const { expected } = kindOf(spec.kind)
  try {
    const computed = compute()
    if (computed instanceof Promise) {
      computed.catch(() => {})
      report(`the function ${name} is async, but it must return its value at once: ${expected}`, name)
    } else if (!isValueOf(spec, computed)) {
      report(`the function ${name} returns ${formatValue(computed)}, but it must return ${expected}`, name)
    }
    return computed
  } catch (error) {
    const reason = error instanceof Error ? error.message : formatValue(error)
    report(`the function ${name} throws an error: ${reason}`, name)
    return undefined
  }
}

/** Checks a value that new rows get, or the function that returns it. */
const checkPreset = (name: 'default' | 'managed', { kind, options, target }: CheckedField, report: Report): void => {
  const { [name]: source, unique } = options
  const spec = { ...options, kind }
  const computed = typeof source === 'function' ? checkFunction(name, source, spec, report) : source
  if (target && !target.existing && typeof computed === 'number' && computed < 1)
    report(`${name} is ${computed}, but ids begin at 1`, name)
  if (unique !== true || source === true) return
  const advice = 'a second row would be refused; remove one of the two'
  if (typeof source !== 'function') report(`unique and a constant default contradict each other: ${advice}`, name)
  else if (name === 'managed' && computed !== undefined && computed === checkFunction(name, source, spec, () => {}))
    report(`unique, but the function managed returns the same value again: ${advice}`, name)
}

/** Checks that a constant keeps the rules of the field. */
const checkConstant = (name: 'default' | 'example', field: CheckedField, report: Report): void => {
  const { kind, options, findViolation } = field
  const constant = options[name]
  const violation = typeof constant === 'function' ? undefined : findViolation({ ...options, kind }, constant)
  if (violation) report(`${name} ${violation.describe(options)}`, name)
}

const tones = ['good', 'bad', 'warning', 'info', 'muted'] as const
export type Tone = (typeof tones)[number]

/** In the order in which messages name them. */
export const fieldOptions = {
  /** One sentence for the documents. */
  about: option({ shape: sentence }),
  /** The name for people, in the explorer; by default derived from the name of the field: `dept_id` is "Department". */
  label: option({ shape: shape('a name for people, such as "Department"', filledText) }),
  /** An example for the documents; by default the value in the first demo row. */
  example: option({
    shape: value,
    revealsValues: true,
    check: (_, field, report) => {
      checkConstant('example', field, report)
    },
  }),
  /** A value, or a function such as `today` or `now`, that is used if a create leaves the field out, or sends null for a required one. */
  default: option({
    shape: (spec) => shape(kindOf(spec.kind).expected, z.union([functionOfValue, schemaOf(spec)])),
    check: (_, field, report) => {
      if (field.options.managed) report('a managed field cannot have a default; remove one of the two', 'default')
      checkConstant('default', field, report)
      checkPreset('default', field, report)
    },
  }),
  /** Clients cannot set the field: a function such as `now` returns its value when a row is created, `true` leaves it null. */
  managed: option({
    shape: shape('true or a function such as now', z.union([z.literal(true), functionOfValue])),
    check: (managed, field, report) => {
      // The database sets a managed field of an existing table.
      if (managed === true && field.isRequired && field.isCreatable && !field.isExisting)
        report('a required managed field needs a function that returns its value, such as managed: now', 'managed')
      checkPreset('managed', field, report)
    },
  }),
  /** Beside `managed`: a function such as `now` that returns the value at every change of the row, also when a delete sets a reference to null. */
  onUpdate: option({
    shape: shape('a function such as now', functionOfValue),
    check: (_, { options }, report) => {
      if (!options.managed) report('onUpdate needs managed, because clients must not set the field too', 'onUpdate')
    },
  }),
  /** The field is in every row, but always null: its column is never selected, searched or filtered, and no error message repeats its value. */
  redacted: option({
    shape: flag,
    check: (_, { isRequired }, report) => {
      if (isRequired) report('a redacted field is always null for clients, so it cannot be required', 'redacted')
    },
  }),
  /** The roles that see the field, such as `['hr']`; it is null for everybody else, and never searched. */
  readBy: option({
    shape: shape("a list of roles, such as ['hr']", roles),
    check: (readBy, { isRequired, options }, report) => {
      if (isRequired) report('a field with readBy is null for others, so it cannot be required', 'readBy')
      if (options.redacted) report('a redacted field is null for everybody; remove one of the two', 'readBy')
      if (readBy.includes('public')) report('readBy names roles; for everybody, remove it', 'readBy')
    },
  }),
  /** The role, or the list of roles, that may send the field, such as `'registrar'`; everybody else gets the default or null. */
  writeBy: option({
    shape: shape("a role or a list of roles, such as 'registrar'", z.union([filledText, roles])),
    check: (writeBy, { isRequired, isInAccess, options }, report) => {
      if ([writeBy].flat().includes('public')) report('writeBy names roles; for everybody, remove it', 'writeBy')
      if (options.managed) report('a managed field is set by the service; remove one of the two', 'writeBy')
      else if (isRequired && options.default === undefined)
        report('a required field with writeBy needs a default, because others create rows without it', 'writeBy')
      if (isInAccess)
        report('a rule of access names the field, so whoever writes rows must be able to set it', 'writeBy')
    },
  }),
  /** The column of an existing table, if it has another name than the field. */
  column: option({
    shape: foreignName,
    check: (_, { isExisting }, report) => {
      if (!isExisting) report('column needs existing: true; otherwise the column has the name of the field', 'column')
    },
  }),
  /** The former name of the field, whose column `npm run migrate` renames. */
  renamedFrom: option({
    shape: shape('the former name of the field, such as "kind"', z.string().refine(isName)),
    check: (former, { name, fields, isExisting }, report) => {
      if (isExisting) report('renamedFrom changes the table, and an existing one is never changed', 'renamedFrom')
      const reportFormer = (what: string) => report(`renamedFrom names "${former}", ${what}`, 'renamedFrom')
      if (Object.hasOwn(fields, former))
        reportFormer('which is still a field; remove one of the two, or rename in two steps')
      if (former === 'id') reportFormer('which every row keeps; remove it')
      if (Object.entries(fields).some(([other, { renamedFrom }]) => other !== name && renamedFrom === former))
        reportFormer('like that of another field; only one can have its values')
    },
  }),
  /** How many digits a value has, before and after the point; at most 18. */
  digits: option({
    shape: {
      ...shape(`a number of digits from 1 to ${maxDecimalDigits}`, z.int().min(1).max(maxDecimalDigits)),
      missing: 'a decimal needs it: decimal({ digits: 12, places: 2 })',
    },
    kinds: ['decimal'],
  }),
  /** How many digits follow the point. */
  places: option({
    shape: ({ digits = maxDecimalDigits }) => ({
      ...shape('a number of digits after the point, at most as many as digits', z.int().min(0).max(Number(digits))),
      missing: 'a decimal needs it: decimal({ digits: 12, places: 2 })',
    }),
    kinds: ['decimal'],
  }),
  /** Lists accept the field as a filter: `status=a`, `status.in=a&status.in=b` and `status.null=true`. Adds an index. */
  filter: option({ shape: flag, kinds: allBut('json'), revealsValues: true }),
  /** Lists accept bounds of the field: `days.gte=2`, `.gt`, `.lte` and `.lt`. Adds an index. A text needs a `format`. */
  range: option({
    shape: flag,
    kinds: allBut('boolean', 'uuid', 'json'),
    revealsValues: true,
    check: (_, { kind, options: { format, default: preset, managed } }, report) => {
      if (kindOf(kind).isText && !format && !describeClock(preset ?? managed))
        report("range of a text needs a format, such as format: 'date'", 'range')
    },
  }),
  /** Lists can be ordered by the field: `sort=days` and `sort=-days`. Shares the index of `range`. */
  sort: option({ shape: flag, kinds: allBut('uuid', 'json'), revealsValues: true }),
  /**
   * No two rows have the same value: `true` in the whole table, `['organization_id']` among rows with the same `organization_id`.
   * Rows without a value, in this field or in one of those named, are never in conflict.
   */
  unique: option({
    shape: shape('true or a list of field names', z.union([z.literal(true), names])),
    kinds: allBut('number', 'boolean', 'json'),
    revealsValues: true,
    check: (unique, { name, options, fields }, report) => {
      if (unique === true) return
      if (unique.length === 0)
        report('unique is an empty list; write true if it is unique in the whole table', 'unique')
      checkFieldList('unique', unique, fields, report, (other, others) =>
        other === name ? 'names the field itself; name other fields, or write true' : revealedField(other, others),
      )
      if (options.readBy)
        report('a field with readBy cannot be unique together with others: errors would reveal its values', 'unique')
    },
  }),
  /** The path of a resource: the value must be the `id` of one of its rows. Adds a foreign key. */
  references: option({
    // Undefined is probably a name that was not imported.
    shape: { ...shape('the path of a resource, such as "authors"', filledText), rejectsUndefined: true },
    kinds: idKinds,
    check: (references, { kind, target, targets }, report) => {
      if (!target)
        report(`references the unknown resource "${references}"${pathHint(references, targets)}`, 'references')
      const idKind = target?.id ?? 'integer'
      if (target?.table === undefined || kind === idKind) return
      const ids = { integer: 'integers', uuid: 'UUIDs', text: 'texts' }[idKind]
      report(`the ids of "${references}" are ${ids}; write ${idKind}({ references: '${references}' })`, 'references')
    },
  }),
  /**
   * Beside `references`: what a delete of the referenced row does: it is refused (`'restrict'`, the default), sets the field to
   * null (`'set null'`) or deletes this row too (`'cascade'`).
   */
  onDelete: option({
    shape: shape("'restrict', 'set null' or 'cascade'", z.enum(['restrict', 'set null', 'cascade'])),
    kinds: idKinds,
    check: (onDelete, { options: { references }, target, isExisting, isRequired }, report) => {
      if (target?.existing && !isExisting && onDelete !== 'restrict') {
        const why = `"${references}" is an existing table, for which no foreign key is created`
        report(`${why}; onDelete must be restrict`, 'onDelete')
      }
      if (references === undefined) report('onDelete needs references', 'onDelete')
      if (onDelete === 'set null' && isRequired)
        report('the field is required, so a delete cannot set it to null; use restrict or cascade', 'onDelete')
    },
  }),
  /**
   * The documented format, `'date'` (`YYYY-MM-DD`) or `'timestamp'` (`YYYY-MM-DDTHH:MM:SSZ`, UTC); any string is accepted.
   * Implied if the default or the managed value is `today` or `now`.
   */
  format: option({ shape: shape('"date" or "timestamp"', z.enum(['date', 'timestamp'])), kinds: ['text'] }),
  /** The colours of values in the explorer, each `good`, `bad`, `warning`, `info` or `muted`: `{ Approved: 'good', Rejected: 'bad' }`. */
  tones: option({
    shape: shape(
      "an object with a tone for each value, such as { Approved: 'good' }",
      anObject as z.ZodType<Readonly<Record<string, Tone>>>,
    ),
    kinds: ['text', 'integer', 'boolean'],
    check: (tonesByValue, { kind, options: { oneOf }, findViolation }, report) => {
      for (const [key, tone] of Object.entries(tonesByValue)) {
        if (!tones.includes(tone)) {
          const hint = didYouMean(String(tone), tones) || `; it must be one of ${tones.join(', ')}`
          report(`tones: "${key}" has the unknown tone ${formatValue(tone)}${hint}`, 'tones', key)
        }
        const violation = findViolation({ kind, ...(oneOf && { oneOf }) }, kindOf(kind).isText ? key : parseJson(key))
        if (violation) report(`tones: ${formatValue(key)} ${violation.message}`, 'tones', key)
      }
    },
  }),
  /** The only values that are allowed. */
  oneOf: option({
    shape: (spec) =>
      shape(`a list of values, each ${kindOf(spec.kind).expected}`, z.array(schemaOf(spec)).nonempty().readonly()),
    kinds: ['text', 'integer'],
    rule: {
      violation: ['enum', 'expected'],
      allows: (values: readonly GivenValue[]) => {
        const allowed = new Set(values)
        return (input: GivenValue) => allowed.has(input)
      },
      keywords: (values: readonly GivenValue[]) => ({ enum: values }),
    },
    check: (oneOf, { kind, options: { oneOf: _, ...otherOptions }, findViolation }, report) => {
      for (const [index, choice] of oneOf.entries()) {
        const violation = findViolation({ ...otherOptions, kind }, choice)
        if (violation) report(`oneOf: ${formatValue(choice)} ${violation.message}`, 'oneOf', index)
        if (oneOf.indexOf(choice) !== index) report(`oneOf names ${formatValue(choice)} twice`, 'oneOf', index)
      }
    },
  }),
  /** Beside `oneOf`: what an update may change each value to: `{ Pending: ['Approved', 'Rejected'] }`. A value that is not named stays. */
  next: option({
    shape: (spec) =>
      shape(
        "an object with the values that may follow each, such as { Pending: ['Approved'] }",
        z.record(z.string(), z.array(schemaOf(spec)).readonly()).readonly(),
      ),
    kinds: ['text', 'integer'],
    check: (next, { options: { oneOf }, isUpdatable }, report) => {
      if (!oneOf) {
        report('next needs oneOf', 'next')
        return
      }
      if (!isUpdatable) report('next needs update, because only updates make steps', 'next')
      const values = oneOf.map(String)
      for (const [from, steps] of Object.entries(next)) {
        if (!values.includes(from))
          report(`next names ${formatValue(from)}, which is not in oneOf${didYouMean(from, values)}`, 'next', from)
        for (const [index, to] of steps.entries()) {
          if (!oneOf.includes(to))
            report(`next: ${formatValue(to)} is not in oneOf${didYouMean(String(to), values)}`, 'next', from, index)
          else if (String(to) === from)
            report(`next: ${formatValue(to)} follows itself, which is no change`, 'next', from, index)
        }
      }
    },
  }),
  /** Beside `next`: the values that a create may send: `['Pending']`. Without it, all of `oneOf`. */
  start: option({
    shape: (spec) =>
      shape(
        `a list of at least one value, each ${kindOf(spec.kind).expected}`,
        z.array(schemaOf(spec)).nonempty().readonly(),
      ),
    kinds: ['text', 'integer'],
    check: (start, field, report) => {
      const { kind, options } = field
      const { oneOf, next, default: preset } = options
      if (!next) report('start needs next; without steps, oneOf has the values that rows may have', 'start')
      for (const [index, value] of start.entries()) {
        if (oneOf && !oneOf.includes(value))
          report(
            `start: ${formatValue(value)} is not in oneOf${didYouMean(String(value), oneOf.map(String))}`,
            'start',
            index,
          )
        if (start.indexOf(value) !== index) report(`start names ${formatValue(value)} twice`, 'start', index)
      }
      const first =
        typeof preset === 'function' ? checkFunction('default', preset, { ...options, kind }, () => {}) : preset
      if (first !== undefined && !start.includes(first as GivenValue))
        report(`default is ${formatValue(first)}, which is not in start`, 'default')
    },
  }),
  /** The least value. */
  min: option({
    shape: value,
    kinds: allBut('text', 'boolean', 'uuid', 'json'),
    rule: {
      violation: ['greater_than_equal', 'ge'],
      allows: (min: GivenValue, spec) => (input: GivenValue) => toComparable(spec, input) >= toComparable(spec, min),
      keywords: boundKeywords('minimum'),
    },
    check: (min, { kind, options }, report) => {
      const { max = min } = options
      const spec = { ...options, kind }
      // Not by their texts: "9" is less than "10".
      if (toComparable(spec, min) > toComparable(spec, max))
        report(`min is ${formatValue(min)}, but max is ${formatValue(max)}; no value is allowed`, 'min')
    },
  }),
  /** The greatest value. */
  max: option({
    shape: value,
    kinds: allBut('text', 'boolean', 'uuid', 'json'),
    rule: {
      violation: ['less_than_equal', 'le'],
      allows: (max: GivenValue, spec) => (input: GivenValue) => toComparable(spec, input) <= toComparable(spec, max),
      keywords: boundKeywords('maximum'),
    },
  }),
  /** The least number of characters, counted as code points. */
  minLength: option({
    shape: length,
    kinds: ['text'],
    rule: {
      violation: ['string_too_short', 'min_length'],
      // The number of UTF-16 units decides for most texts.
      allows: (min: number) => (text: string) => text.length >= 2 * min || countCodePoints(text) >= min,
    },
    check: (minLength, { options: { maxLength = minLength } }, report) => {
      if (minLength > maxLength)
        report(`minLength is ${minLength}, but maxLength is ${maxLength}; no value is allowed`, 'minLength')
    },
  }),
  /** The greatest number of characters, counted as code points. */
  maxLength: option({
    shape: length,
    kinds: ['text'],
    rule: {
      violation: ['string_too_long', 'max_length'],
      allows: (max: number) => (text: string) =>
        text.length <= max || (text.length <= 2 * max && countCodePoints(text) <= max),
    },
  }),
  /** Values that are not allowed, because they mean something else in a URL; of an `id`, not an option of fields. */
  reserved: option({
    shape: shape('a list of texts', names),
    kinds: [],
    rule: {
      violation: ['reserved', 'reserved'],
      allows: (values: readonly string[]) => (id: string) => !values.includes(id),
      // The description of the id has them.
      keywords: () => ({}),
    },
  }),
  /** A regular expression that the whole value must match; needs a `maxLength` of at most 1,000. */
  pattern: option({
    shape: shape(
      "a regular expression as a string, such as '[A-Z]{3}'",
      filledText.superRefine((source, context) => {
        try {
          compilePattern(source)
        } catch (error) {
          context.addIssue({ code: 'custom', params: { error: `cannot be used: ${(error as Error).message}` } })
        }
      }),
    ),
    kinds: ['text'],
    rule: {
      violation: ['string_pattern_mismatch', 'pattern'],
      allows: (pattern: string) => {
        const matches = compilePattern(pattern)
        // A text of a megabyte takes seconds; it is too long anyway.
        return (text: string) => text.length > 2 * maxPatternLength || matches(text)
      },
      keywords: (pattern: string) => ({ pattern: `^(?:${pattern})$` }),
    },
    check: (_, { options: { maxLength = Number.POSITIVE_INFINITY } }, report) => {
      if (maxLength > maxPatternLength) report(`a pattern needs a maxLength of at most ${maxPatternLength}`, 'pattern')
    },
  }),
}

type Specs = typeof fieldOptions
export type OptionName = keyof Specs

/** The options of a field with values of type V. */
export type Options<V> = {
  [Name in keyof Specs]?: Specs[Name] extends OptionRow<infer T, infer _K> ? Fill<T, V> : never
}

/** The options that fields of a kind may have. */
export type OptionOf<K extends Kind> = {
  [Name in OptionName]: Specs[Name] extends OptionRow<infer _T, infer Kinds> ? (K extends Kinds ? Name : never) : never
}[OptionName]

export type TextFormat = NonNullable<Options<never>['format']>
export type OnDelete = NonNullable<Options<never>['onDelete']>

/** All rows, without what is special to their types. */
export const optionRows = Object.entries(fieldOptions) as unknown as [OptionName, OptionRow<unknown, Kind>][]

export const takesOption = (kind: Kind, name: OptionName): boolean => {
  const { kinds }: { readonly kinds?: readonly Kind[] } = fieldOptions[name]
  return kinds === undefined || kinds.includes(kind)
}

/** Creating the schemas of a kind takes longer than checking the options of a field. */
const shapesByKind = new Map<string, Shapes>()

/** What each option of a field of this kind must be. */
export const optionShapes = (spec: KindSpec): Shapes => {
  const key = `${spec.kind} ${spec.digits} ${spec.places}`
  const rows = optionRows.filter(([name]) => takesOption(spec.kind, name))
  const shapes =
    shapesByKind.get(key) ??
    Object.fromEntries(
      rows.map(([name, { shape: entry }]) => [name, typeof entry === 'function' ? entry(spec) : entry]),
    )
  shapesByKind.set(key, shapes)
  return shapes
}
