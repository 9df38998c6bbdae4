/** Validates the body of a create or an update, and turns everything that is wrong with it into issues. */
import type { z } from 'zod'
import { memberTexts, parseJsonText } from '../descriptor/jsonText.js'
import { jsonFieldNames } from '../descriptor/kinds/index.js'
import {
  canonicalValue,
  type Field,
  newRow,
  type Resource,
  type RowValues,
  updatableFields,
  type Value,
  writableFields,
} from '../descriptor/registry.js'
import { wrongStarts } from '../descriptor/rowRules.js'
import { Violation } from '../descriptor/violations.js'
import { type Issue, maxIssues } from './errors.js'
import { bodyTypeIssue, fieldIssue, propertyIssue, ruleIssues, violationIssue } from './issues.js'
import { inexactKeys } from './jsonScan.js'

export const bodyLimit = 1024 * 1024

/** The most bytes of an import. */
export const importLimit = 16 * 1024 * 1024

/** The most bytes of a form of the explorer, which has a row as it was too; and of one with a file and what is around it. */
export const [formLimit, fileFormLimit] = [4 * bodyLimit, importLimit + 64 * 1024]

/** Reads the body of a request, with its source; the values are those that may be stored. */
export type BodyReader = (body: unknown, source?: string) => { values: RowValues; issues: Issue[] }

/** Some members of a body; it may have many more. */
const someMembers = (texts: ReadonlyMap<string, string>, names: readonly string[]): string =>
  names.map((name) => `${JSON.stringify(name)}:${texts.get(name)}`).join()

const bodyReader = (resource: Resource, allowed: readonly Field[], schema: z.ZodObject, isUpdate: boolean) => {
  const fields = new Map(allowed.map((field) => [field.name, field]))
  const names = [...fields.keys()]
  const jsonNames = jsonFieldNames(allowed)
  const otherNames = names.filter((name) => !jsonNames.includes(name))

  return (body: unknown, source = ''): { values: Readonly<Record<string, Value | undefined>>; issues: Issue[] } => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { values: {}, issues: [bodyTypeIssue(body)] }
    }
    const members = body as RowValues
    /** By field and type: two checks of zod have one issue, such as those of an integer that is too large. */
    const invalid = new Map<string, Issue>()
    const unknown: string[] = []
    // The schema gets no unknown property: it would report 70,000 of them, of which the response has a hundred.
    for (const key in members) {
      if (!fields.has(key)) unknown.push(key)
      if (unknown.length === maxIssues) break
    }
    const values: RowValues = {}
    for (const name of names) if (Object.hasOwn(members, name)) values[name] = members[name] as Value
    for (const issue of schema.safeParse(values).error?.issues ?? []) {
      const name = String(issue.path[0])
      const invalidField = fieldIssue(fields.get(name) as Field, members[name], issue, isUpdate)
      invalid.set(`${name} ${invalidField.type}`, invalidField)
    }
    for (const { loc } of invalid.values()) delete values[String(loc[1])]
    const texts = jsonNames.length > 0 ? memberTexts(source) : undefined
    for (const name of jsonNames.filter((field) => (values[field] ?? null) !== null)) {
      const parsed = parseJsonText(texts?.get(name) ?? JSON.stringify(values[name]))
      if (parsed instanceof Violation) {
        invalid.set(name, violationIssue(fields.get(name) as Field, parsed))
        delete values[name]
      } else values[name] = parsed
    }
    for (const name of inexactKeys(texts ? someMembers(texts, otherNames) : source, fields)) {
      if (typeof values[name] !== 'number') continue
      invalid.set(name, violationIssue(fields.get(name) as Field, new Violation('number_precision', values[name])))
      delete values[name]
    }
    return {
      values,
      issues: [...invalid.values(), ...unknown.map((key) => propertyIssue(resource, names, key))],
    }
  }
}

export const createBodyReader = (resource: Resource, schema: z.ZodObject): BodyReader => {
  const fields = writableFields(resource)
  const readBody = bodyReader(resource, fields, schema, false)
  const startFields = fields.filter(({ start }) => start)
  return (body, source) => {
    const { values, issues: bodyIssues } = readBody(body, source)
    const wrongValues = startFields.length > 0 ? wrongStarts(startFields, values) : []
    const issues = [...bodyIssues, ...wrongValues.map(([field, violation]) => violationIssue(field, violation))]
    const row = newRow(resource, values)
    for (const { loc } of issues) delete row[String(loc[1])]
    const broken = resource.rules ? ruleIssues(resource, row, () => true) : []
    return { values: row, issues: [...issues, ...broken] }
  }
}

export const updateBodyReader = (resource: Resource, schema: z.ZodObject): BodyReader => {
  const fields = updatableFields(resource)
  const readBody = bodyReader(resource, fields, schema, true)
  return (body, source) => {
    const { values, issues } = readBody(body, source)
    const stored = fields.flatMap((field) => {
      const value = values[field.name]
      return value === undefined ? [] : [[field.name, canonicalValue(field, value)]]
    })
    return { values: Object.fromEntries(stored), issues }
  }
}
