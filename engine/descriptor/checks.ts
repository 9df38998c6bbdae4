/** The rules for the fields of a descriptor beyond their syntax: names, references, and options that contradict each other. */
import { accessNames, isClaim, rulesOf } from './access.js'
import { now, today } from './clock.js'
import type { Descriptor, Rule } from './define.js'
import { type FieldSpec, type Options, tones } from './fields.js'
import { type IdKind, isValueOf, type Kind, type KindSpec, kindOf } from './kinds/index.js'
import { commonParameters } from './listParameters.js'
import { isName } from './names.js'
import { didYouMean } from './nearest.js'
import { compilePattern, maxPatternLength } from './pattern.js'
import type { Field, GivenValue } from './registry.js'
import { formatValue, type Report, reportAt } from './registryError.js'
import { ruleValue } from './rowRules.js'
import { sampleValue } from './samples.js'
import { aggregates } from './summary.js'
import { findViolation } from './valueRules.js'

export interface Target {
  readonly path: string
  /** Undefined if its file has no valid table. */
  readonly table: string | undefined
  readonly existing?: boolean | undefined
  readonly id?: IdKind | undefined
}

/** What to write instead of a path that no resource has: the path of the table with this name, or a similar path. */
export const pathHint = (name: string, targets: readonly Target[]): string => {
  const paths = targets.map(({ path }) => path)
  const owner = targets.find(({ table }) => table === name)
  if (owner) return `; that is a table, and its path is "${owner.path}"`
  if (paths.length === 0) return ''
  return didYouMean(name, paths) || `; the resources are ${paths.join(', ')}`
}

/** The columns that every table has on PostgreSQL. */
const systemColumns = ['cmax', 'cmin', 'ctid', 'tableoid', 'xmax', 'xmin']

/** The names of parameters that only a summary has. */
const summaryParameters: readonly string[] = ['by', ...aggregates]

export const checkFieldName = (name: string, report: (message: string) => void): void => {
  const lower = name.toLowerCase()
  if (lower === 'id') report('every resource has an id without declaring it; remove the field')
  if (name === 'constructor') report('the name is reserved by JavaScript; choose another')
  if (Object.hasOwn(commonParameters, lower)) report('the name is a query parameter of every list; choose another')
  if (lower === 'expand' || lower === 'expanded') report('the name is that of expanded references; choose another')
  if (systemColumns.includes(lower)) report('every table has a column of that name on PostgreSQL; choose another')
  if (name.startsWith('registry_')) report('the service has columns that begin with registry_; choose another name')
  if (!isName(name))
    report('the name must be at most 60 lower-case letters, digits and underscores, such as "from_date"')
}

/** Why a field cannot be in a list, after the name of the property. */
type FieldCheck = (name: string, options: Options<GivenValue>) => string | false | undefined

/** A field whose value a message about several fields would tell. */
const revealedField: FieldCheck = (name, { redacted, readBy }) =>
  (redacted || readBy) &&
  `names "${name}", which ${redacted ? 'is redacted' : 'has readBy'}: errors would reveal its values`

const listedFieldChecks: Readonly<Record<'required' | 'label' | 'update', FieldCheck>> = {
  required: (name) => name === 'id' && 'names "id", which every row has; remove it',
  label: (name, { redacted, readBy }) =>
    (redacted || readBy) && `names "${name}", which ${redacted ? 'is redacted' : 'has readBy'}; name another field`,
  update: (name, { managed }) => managed && `names "${name}", which is managed; remove one of the two`,
}

const checkFunction = (option: string, compute: () => unknown, spec: KindSpec, report: Report): unknown => {
  const { expected } = kindOf(spec.kind)
  try {
    const value = compute()
    if (value instanceof Promise) {
      value.catch(() => {})
      report(`the function ${option} is async, but it must return its value at once: ${expected}`, option)
    } else if (!isValueOf(spec, value)) {
      report(`the function ${option} returns ${formatValue(value)}, but it must return ${expected}`, option)
    }
    return value
  } catch (error) {
    const reason = error instanceof Error ? error.message : formatValue(error)
    report(`the function ${option} throws an error: ${reason}`, option)
    return undefined
  }
}

/** `target` is the resource that the field references. */
const checkPreset = (
  option: 'default' | 'managed',
  kind: Kind,
  options: Options<GivenValue>,
  target: Target | undefined,
  report: Report,
): void => {
  const { [option]: source, unique } = options
  const spec = { ...options, kind }
  const value = typeof source === 'function' ? checkFunction(option, source, spec, report) : source
  if (target && !target.existing && typeof value === 'number' && value < 1)
    report(`${option} is ${value}, but ids begin at 1`, option)
  if (unique !== true || source === undefined || source === true) return
  const advice = 'a second row would be refused; remove one of the two'
  if (typeof source !== 'function') report(`unique and a constant default contradict each other: ${advice}`, option)
  else if (option === 'managed' && value !== undefined && value === checkFunction(option, source, spec, () => {})) {
    report(`unique, but the function managed returns the same value again: ${advice}`, option)
  }
}

const checkRules = (kind: Kind, options: Options<GivenValue>, report: Report): void => {
  const { oneOf, min, max, minLength, maxLength, pattern } = options
  const { digits, places } = options
  // Not by their texts: "9" is less than "10".
  const isOver = min !== undefined && max !== undefined && findViolation({ kind, digits, places, max }, min)
  if (isOver) report(`min is ${formatValue(min)}, but max is ${formatValue(max)}; no value is allowed`, 'min')
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    report(`minLength is ${minLength}, but maxLength is ${maxLength}; no value is allowed`, 'minLength')
  if (pattern !== undefined) {
    try {
      compilePattern(pattern)
    } catch (error) {
      report(`pattern cannot be used: ${(error as Error).message}`, 'pattern')
      return
    }
    if (maxLength === undefined || maxLength > maxPatternLength)
      report(`a pattern needs a maxLength of at most ${maxPatternLength}`, 'pattern')
  }
  for (const [index, value] of (oneOf ?? []).entries()) {
    const others = { ...options, kind, oneOf: undefined }
    const violation = findViolation(others, value)
    if (violation) report(`oneOf: ${formatValue(value)} ${violation.message}`, 'oneOf', index)
    if (oneOf?.indexOf(value) !== index) report(`oneOf names ${formatValue(value)} twice`, 'oneOf', index)
  }
  for (const option of ['default', 'example'] as const) {
    const value = options[option]
    const violation =
      value === undefined || typeof value === 'function' ? undefined : findViolation({ ...options, kind }, value)
    if (violation) report(`${option} ${violation.describe(options)}`, option)
  }
}

/** A required field of which no example can be made up; demo rows are no examples where access or readBy says who may see them. */
const checkExample = (field: Field, report: Report): void => {
  if (field.example === undefined && field.default === undefined && sampleValue(field, 1) === undefined)
    report('needs an example, because no sample fits its rules', 'pattern')
}

/** A step that is not among the values, or that no update can make. */
const checkNext = (options: Options<GivenValue>, isUpdatable: boolean, report: Report): void => {
  const { next, oneOf } = options
  if (!next) return
  if (!oneOf) {
    report('next needs oneOf', 'next')
    return
  }
  if (!isUpdatable) report('next needs update, because only updates make steps', 'next')
  const names = oneOf.map(String)
  for (const [from, to] of Object.entries(next)) {
    if (!names.includes(from))
      report(`next names ${formatValue(from)}, which is not in oneOf${didYouMean(from, names)}`, 'next', from)
    for (const [index, one] of to.entries()) {
      if (!oneOf.includes(one))
        report(`next: ${formatValue(one)} is not in oneOf${didYouMean(String(one), names)}`, 'next', from, index)
      else if (String(one) === from)
        report(`next: ${formatValue(one)} follows itself, which is no change`, 'next', from, index)
    }
  }
}

/** The value that a text stands for: what is not JSON is itself. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const checkTones = (kind: Kind, { tones: given = {}, oneOf }: Options<GivenValue>, report: Report): void => {
  for (const [value, tone] of Object.entries(given)) {
    if (!tones.includes(tone)) {
      const hint = didYouMean(String(tone), tones) || `; it must be one of ${tones.join(', ')}`
      report(`tones: "${value}" has the unknown tone ${formatValue(tone)}${hint}`, 'tones', value)
    }
    const violation = findViolation({ kind, oneOf }, kindOf(kind).isText ? value : parseJson(value))
    if (violation) report(`tones: ${formatValue(value)} ${violation.message}`, 'tones', value)
  }
}

/** Asks a rule once, with samples, to find one that reads other fields, throws, or returns something else than true or false. */
const tryRule = ({ fields: own, holds }: Rule, fields: Descriptor['fields'], report: Report): void => {
  const samples = own.map((name) => {
    const { kind, options } = fields[name] as FieldSpec
    const { oneOf, min, max, ...others } = options as Options<GivenValue>
    const sample = oneOf?.[0] ?? min ?? max ?? kindOf(kind).sample(1, name, others)
    return [name, ruleValue({ ...others, kind }, sample)]
  })
  const others = new Set<string>()
  const row = new Proxy(Object.fromEntries(samples), {
    get(target, name) {
      if (typeof name === 'string' && !own.includes(name)) others.add(name)
      return Reflect.get(target, name)
    },
  })
  try {
    const held: unknown = holds(row)
    for (const name of others) report(`holds reads "${name}", which is not in fields`, 'holds')
    if (others.size === 0 && typeof held !== 'boolean')
      report(`holds returns ${formatValue(held)}, but it must return true or false`, 'holds')
  } catch (error) {
    const reason = error instanceof Error ? error.message : formatValue(error)
    report(`holds throws an error: ${reason}`, 'holds')
  }
}

const isWord = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.trim() === value

const isAccessRule = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isClaim(value)) return isWord(value)
  const claims = Object.values(value)
  return claims.length > 0 && claims.every((one) => isClaim(one) && isWord(one.name))
}

/** Rules that name what the resource does not have, or that contradict each other. */
const checkAccess = ({ access, fields, create, update, delete: remove }: Descriptor, report: Report): void => {
  if (!access) return
  const has = { read: true, create, update: update !== undefined && update !== false, delete: remove === true }
  for (const name of Object.keys(access) as (keyof typeof access)[]) {
    if (access[name] === undefined) continue
    const rules = rulesOf(access[name])
    const refuse = (message: string) => report(`${name} ${message}`, 'access', name)
    if (!accessNames.includes(name)) {
      refuse(`is no operation${didYouMean(name, accessNames)}`)
      continue
    }
    if (rules.length === 0 || !rules.every(isAccessRule)) {
      refuse(
        `is ${formatValue(access[name])}, but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
      )
      continue
    }
    if (!has[name]) refuse(`is not possible; write ${name}: true in the descriptor too, or remove the rule`)
    if (rules.includes('public') && name !== 'read') refuse('cannot be public; name a role, or write signed-in')
    if (rules.includes('public') && rules.length > 1)
      refuse('is public, so the other rules have no effect; remove them')
    for (const rule of rules) {
      for (const field of typeof rule === 'string' ? [] : Object.keys(rule)) {
        const options = fields[field]?.options as Options<GivenValue> | undefined
        if (field === 'id') continue
        if (!options) refuse(`names the unknown field "${field}"${didYouMean(field, Object.keys(fields))}`)
        else if (options.readBy) refuse(`names "${field}", which has readBy: its value would show in the rows`)
        else if (!options.filter) refuse(`names "${field}", which needs filter: true`)
      }
    }
  }
}

export const checkDescriptor = (descriptor: Descriptor, targets: readonly Target[], report: Report): void => {
  const { existing, idColumn, fields, required, create, renamedFromTable } = descriptor
  const isUpdated = (name: string) =>
    descriptor.update === true || (Array.isArray(descriptor.update) && descriptor.update.includes(name))
  const names = Object.keys(fields)
  const optionsFor = (name: string) => (fields[name]?.options ?? {}) as Options<GivenValue>

  const checkList = (property: string, list: readonly string[], report: Report, check: FieldCheck): void => {
    for (const [index, name] of list.entries()) {
      const unknown = !names.includes(name) && `names the unknown field "${name}"${didYouMean(name, names)}`
      const why = check(name, optionsFor(name)) || unknown
      if (why) report(`${property} ${why}`, property, index)
      if (list.indexOf(name) < index) report(`${property} names "${name}" twice`, property, index)
    }
  }

  const checkRenamed = (name: string, renamedFrom: string, report: Report): void => {
    const reportFormer = (what: string) => report(`renamedFrom names "${renamedFrom}", ${what}`, 'renamedFrom')
    if (names.includes(renamedFrom))
      reportFormer('which is still a field; remove one of the two, or rename in two steps')
    if (renamedFrom === 'id') reportFormer('which every row keeps; remove it')
    if (names.some((other) => other !== name && optionsFor(other).renamedFrom === renamedFrom))
      reportFormer('like that of another field; only one can have its values')
  }

  const columns: [field: string, column: string][] = [
    ['id', idColumn ?? 'id'],
    ...names.map((name): [string, string] => [name, optionsFor(name).column ?? name]),
  ]
  const checkColumn = (name: string, { column = name, renamedFrom }: Options<GivenValue>, report: Report): void => {
    if (renamedFrom !== undefined)
      report('renamedFrom changes the table, and an existing one is never changed', 'renamedFrom')
    const [other] = columns.find(([field, used]) => field !== name && used === column) ?? []
    if (other !== undefined) report(`the column "${column}" is also that of "${other}"`, 'column')
  }

  const checkField = (name: string, { kind }: FieldSpec, report: Report): void => {
    const options = optionsFor(name)
    const { references, unique, managed, redacted, renamedFrom, default: preset, onUpdate, onDelete } = options
    const isRequired = required.includes(name)
    const target = targets.find(({ path }) => path === references)
    checkFieldName(name, report)
    if (references !== undefined && !target)
      report(`references the unknown resource "${references}"${pathHint(references, targets)}`, 'references')
    const idKind = target?.id ?? 'integer'
    if (target?.table !== undefined && kind !== idKind) {
      const ids = { integer: 'integers', uuid: 'UUIDs', text: 'texts' }[idKind]
      report(`the ids of "${references}" are ${ids}; write ${idKind}({ references: '${references}' })`, 'references')
    }
    if (Array.isArray(unique)) {
      if (unique.length === 0)
        report('unique is an empty list; write true if it is unique in the whole table', 'unique')
      checkList('unique', unique, report, (other, others) => {
        if (other === name) return 'names the field itself; name other fields, or write true'
        return revealedField(other, others)
      })
      if (options.readBy)
        report('a field with readBy cannot be unique together with others: errors would reveal its values', 'unique')
    }
    if (existing) checkColumn(name, options, report)
    else if (options.column !== undefined)
      report('column needs existing: true; otherwise the column has the name of the field', 'column')
    if (renamedFrom !== undefined) checkRenamed(name, renamedFrom, report)
    if (managed && preset !== undefined)
      report('a managed field cannot have a default; remove one of the two', 'default')
    // The database sets a managed field of an existing table.
    if (managed === true && isRequired && create && !existing)
      report('a required managed field needs a function that returns its value, such as managed: now', 'managed')
    if (redacted && isRequired)
      report('a redacted field is always null for clients, so it cannot be required', 'redacted')
    if (options.readBy && isRequired)
      report('a field with readBy is null for others, so it cannot be required', 'readBy')
    if (options.readBy && redacted) report('a redacted field is null for everybody; remove one of the two', 'readBy')
    if (options.readBy?.includes('public')) report('readBy names roles; for everybody, remove it', 'readBy')
    for (const option of ['filter', 'range', 'sort', 'example', 'unique'] as const) {
      if (redacted && options[option] !== undefined)
        report(`a redacted field cannot have the option ${option}, which would reveal its values`, option)
    }
    const isDated = options.format !== undefined || [today, now].includes((preset ?? managed) as () => string)
    if (options.range && kindOf(kind).isText && !isDated)
      report("range of a text needs a format, such as format: 'date'", 'range')
    const { needs } = kindOf(kind)
    for (const option of needs?.options ?? [])
      if (options[option] === undefined) report(`${option} is missing; a ${kind} needs it: ${needs?.example}`)
    checkRules(kind, options, report)
    if (isRequired && (descriptor.access || names.some((other) => optionsFor(other).readBy)))
      checkExample({ ...options, name, kind } as Field, report)
    checkTones(kind, options, report)
    checkNext(options, isUpdated(name), report)
    if (onUpdate && !managed) report('onUpdate needs managed, because clients must not set the field too', 'onUpdate')
    if (target?.existing && !existing && onDelete && onDelete !== 'restrict') {
      const why = `"${references}" is an existing table, for which no foreign key is created`
      report(`${why}; onDelete must be restrict`, 'onDelete')
    }
    if (onDelete && references === undefined) report('onDelete needs references', 'onDelete')
    if (onDelete === 'set null' && isRequired)
      report('the field is required, so a delete cannot set it to null; use restrict or cascade', 'onDelete')
    checkPreset('default', kind, options, target, report)
    checkPreset('managed', kind, options, target, report)
  }

  checkAccess(descriptor, reportAt(report, 'access'))
  if (descriptor.import && !create) report('import needs create: true, because it creates rows', 'import')
  if (!existing && idColumn !== undefined)
    report('idColumn needs existing: true; otherwise the column is "id"', 'idColumn')
  if (existing && renamedFromTable !== undefined)
    report('renamedFromTable changes the table, and an existing one is never changed', 'renamedFromTable')
  for (const [property, check] of Object.entries(listedFieldChecks)) {
    const list = descriptor[property as keyof typeof listedFieldChecks]
    if (!Array.isArray(list)) continue
    checkList(property, list, report, check)
    if (list.length === 0 && property !== 'required')
      report(`${property} is an empty list; name fields, or remove it`, property)
  }
  for (const [index, rule] of (descriptor.rules ?? []).entries()) {
    const reportRule = reportAt(report, `rule ${index + 1}`, 'rules', index)
    if (rule.fields.length === 0) reportRule('fields is an empty list; name the fields that it compares', 'fields')
    checkList('fields', rule.fields, reportRule, revealedField)
    if (rule.fields.length > 0 && rule.fields.every((name) => names.includes(name))) tryRule(rule, fields, reportRule)
  }
  for (const [name, spec] of Object.entries(fields)) {
    const reportField = reportAt(report, `field "${name}"`, 'fields', name)
    checkField(name, spec, reportField)
    if (descriptor.summary && summaryParameters.includes(name))
      reportField('the name is a query parameter of the summary; choose another, or remove summary')
  }
}
