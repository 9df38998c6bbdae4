/** The rules for a descriptor beyond its syntax: names, lists of fields, rules, access, and what contradicts the options of fields. */
import { accessNames, type Descriptor, isClaim, type Rule, rulesOf } from './define.js'
import type { FieldSpec } from './fields.js'
import { type GivenValue, kindOf } from './kinds/index.js'
import { commonParameters } from './listParameters.js'
import { isName } from './names.js'
import { didYouMean } from './nearest.js'
import {
  type CheckedField,
  checkFieldList,
  type FieldCheck,
  type Options,
  optionRows,
  revealedField,
  type Target,
} from './options.js'
import type { Field } from './registry.js'
import { formatValue, type Report, reportAt } from './registryError.js'
import { ruleValue } from './rowRules.js'
import { isPath } from './rulePaths.js'
import { sampleValue } from './samples.js'
import { aggregates } from './summary.js'
import { findViolation } from './valueRules.js'

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

const listedFieldChecks: Readonly<Record<'required' | 'label' | 'update', FieldCheck>> = {
  required: (name) => name === 'id' && 'names "id", which every row has; remove it',
  label: (name, { redacted, readBy }) =>
    (redacted || readBy) && `names "${name}", which ${redacted ? 'is redacted' : 'has readBy'}; name another field`,
  update: (name, { managed }) => managed && `names "${name}", which is managed; remove one of the two`,
}

/** Evaluates a rule once, with samples, to find one that reads other fields, throws, or returns something else than true or false. */
const tryRule = ({ fields: names, holds }: Rule, fields: Descriptor['fields'], report: Report): void => {
  const samples = names.map((name) => {
    const { kind, options } = fields[name] as FieldSpec
    const { oneOf, min, max, ...otherOptions } = options as Options<GivenValue>
    const sample = oneOf?.[0] ?? min ?? max ?? kindOf(kind).sample(1, name, otherOptions)
    return [name, ruleValue({ ...otherOptions, kind }, sample)]
  })
  const undeclared = new Set<string>()
  const row = new Proxy(Object.fromEntries(samples), {
    get(target, name) {
      if (typeof name === 'string' && !names.includes(name)) undeclared.add(name)
      return Reflect.get(target, name)
    },
  })
  try {
    const held: unknown = holds(row)
    for (const name of undeclared) report(`holds reads "${name}", which is not in fields`, 'holds')
    if (undeclared.size === 0 && typeof held !== 'boolean')
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
    const reportRight = (message: string) => report(`${name} ${message}`, 'access', name)
    if (!accessNames.includes(name)) {
      reportRight(`is no operation${didYouMean(name, accessNames)}`)
      continue
    }
    if (rules.length === 0 || !rules.every(isAccessRule)) {
      reportRight(
        `is ${formatValue(access[name])}, but it must be a role, an object such as { owner_id: claim('id') }, or a list of these`,
      )
      continue
    }
    if (!has[name]) reportRight(`is not possible; write ${name}: true in the descriptor too, or remove the rule`)
    if (rules.includes('public') && name !== 'read') reportRight('cannot be public; name a role, or write signed-in')
    if (rules.includes('public') && rules.length > 1)
      reportRight('is public, so the other rules have no effect; remove them')
    for (const rule of rules) {
      for (const field of typeof rule === 'string' ? [] : Object.keys(rule)) {
        const options = fields[field]?.options as Options<GivenValue> | undefined
        // Those of other resources are checked when all of these are known.
        if (field === 'id' || isPath(field)) continue
        if (!options) reportRight(`names the unknown field "${field}"${didYouMean(field, Object.keys(fields))}`)
        else if (options.readBy) reportRight(`names "${field}", which has readBy: its value would show in the rows`)
        else if (!options.filter) reportRight(`names "${field}", which needs filter: true`)
      }
    }
  }
}

/** The fields that rules of access begin with. */
const accessFields = ({ access }: Descriptor): string[] =>
  accessNames
    .flatMap((name) => rulesOf(access?.[name]))
    .flatMap((rule) => (typeof rule === 'object' && !isClaim(rule) ? Object.keys(rule ?? {}) : []))
    .map((path) => path.replace(/\..*/, ''))

/** Columns of an existing table that two fields have. */
const checkColumns = ({ idColumn = 'id' }: Descriptor, fields: CheckedField['fields'], report: Report): void => {
  const columns = Object.entries(fields).map(([name, { column = name }]) => [name, column] as const)
  for (const [name, column] of columns) {
    const [other] = [['id', idColumn], ...columns].find(([field, used]) => field !== name && used === column) ?? []
    if (other !== undefined)
      report(`field "${name}": the column "${column}" is also that of "${other}"`, 'fields', name, 'column')
  }
}

/** What contradicts the options of a field. */
const checkOptions = (field: CheckedField, report: Report): void => {
  for (const [name, { check, revealsValues }] of optionRows) {
    const value = field.options[name]
    if (value === undefined) continue
    if (field.options.redacted && revealsValues)
      report(`a redacted field cannot have the option ${name}, which would reveal its values`, name)
    check?.(value, field, report)
  }
}

/** A required field of which no example can be made up; demo rows are no examples where access or readBy says who may see them. */
const checkExample = (field: Field, report: Report): void => {
  if (field.example === undefined && field.default === undefined && sampleValue(field, 1) === undefined)
    report('needs an example, because no sample fits its rules', 'pattern')
}

export const checkDescriptor = (descriptor: Descriptor, targets: readonly Target[], report: Report): void => {
  const { existing = false, idColumn, required, create, update, renamedFromTable } = descriptor
  const fields = Object.fromEntries(
    Object.entries(descriptor.fields).map(([name, { options }]) => [name, options as Options<GivenValue>]),
  )
  const hasReaders = descriptor.access !== undefined || Object.values(fields).some(({ readBy }) => readBy)

  const named = accessFields(descriptor)
  checkAccess(descriptor, reportAt(report, 'access'))
  if (descriptor.import && !create) report('import needs create: true, because it creates rows', 'import')
  for (const option of ['changes', 'history'] as const)
    if (existing && descriptor[option])
      report(`${option} needs triggers, and nothing is created in an existing table; remove it`, option)
  if (!existing && idColumn !== undefined)
    report('idColumn needs existing: true; otherwise the column is "id"', 'idColumn')
  if (existing && renamedFromTable !== undefined)
    report('renamedFromTable changes the table, and an existing one is never changed', 'renamedFromTable')
  for (const [property, check] of Object.entries(listedFieldChecks)) {
    const list = descriptor[property as keyof typeof listedFieldChecks]
    if (!Array.isArray(list)) continue
    checkFieldList(property, list, fields, report, check)
    if (list.length === 0 && property !== 'required')
      report(`${property} is an empty list; name fields, or remove it`, property)
  }
  for (const [index, rule] of (descriptor.rules ?? []).entries()) {
    const reportRule = reportAt(report, `rule ${index + 1}`, 'rules', index)
    if (rule.fields.length === 0) reportRule('fields is an empty list; name the fields that it compares', 'fields')
    checkFieldList('fields', rule.fields, fields, reportRule, revealedField)
    if (rule.fields.length > 0 && rule.fields.every((name) => Object.hasOwn(fields, name)))
      tryRule(rule, descriptor.fields, reportRule)
  }
  if (existing) checkColumns(descriptor, fields, report)
  for (const [name, { kind }] of Object.entries(descriptor.fields)) {
    const reportField = reportAt(report, `field "${name}"`, 'fields', name)
    const options = fields[name] ?? {}
    const isRequired = required.includes(name)
    checkFieldName(name, reportField)
    if (descriptor.summary && summaryParameters.includes(name))
      reportField('the name is a query parameter of the summary; choose another, or remove summary')
    const field: CheckedField = {
      name,
      kind,
      options,
      isRequired,
      isUpdatable: update === true || (Array.isArray(update) && update.includes(name)),
      isCreatable: create,
      isInAccess: named.includes(name),
      isExisting: existing,
      fields,
      targets,
      target: targets.find(({ path }) => path === options.references),
      findViolation,
    }
    checkOptions(field, reportField)
    if (isRequired && hasReaders) checkExample({ ...options, name, kind } as Field, reportField)
  }
}
