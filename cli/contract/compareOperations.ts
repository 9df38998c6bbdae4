/** Compares two versions of one operation: parameters, body, responses, headers and names. */
import { compareSchemas } from './compareSchemas.js'
import type { Emit } from './differences.js'
import { asList, asObject, isSame, type Json, keysOf } from './json.js'
import type { RuleName, Side } from './rules.js'

/** The named schemas of both documents. */
export interface Schemas {
  readonly before: Json
  readonly after: Json
}

/** Makes the function that compares two versions of one operation. */
export const operationComparison = (schemas: Schemas, operation: string, emit: Emit) => {
  const seen = new Set<string>()
  const schema = (before: unknown, after: unknown, subject: string, side: Side, isMandatory = false): void =>
    compareSchemas(before, after, subject, { ...schemas, side, emit, seen }, { isMandatory })

  /** Reports the keys that only one of two objects has, and compares those of both. */
  const each = (
    [before, after]: readonly [unknown, unknown],
    report: (name: string, isNew: boolean) => void,
    compare: (name: string, before: Json, after: Json) => void,
  ): void => {
    const [old, now] = [asObject(before), asObject(after)]
    for (const name of keysOf(old, now)) {
      if (old[name] === undefined || now[name] === undefined) report(name, old[name] === undefined)
      else compare(name, asObject(old[name]), asObject(now[name]))
    }
  }

  /** Reports the keys that no comparison covers. */
  const rest = (before: Json, after: Json, subject: string, side: Side, covered: readonly string[]): void => {
    for (const key of keysOf(before, after)) {
      if (covered.includes(key) || isSame(before[key], after[key])) continue
      if (key === 'description' || key === 'summary') emit('description-changed', side, { subject })
      else if (key === 'example' || key === 'examples') emit('example-changed', side, { subject })
      else emit('keyword-changed', side, { subject: `${subject}: ${key}`, before: before[key], after: after[key] })
    }
  }

  const requirement = (before: Json, after: Json, subject: string, side: Side): void => {
    const [wasRequired, isRequired] = [before['required'] === true, after['required'] === true]
    if (wasRequired !== isRequired) emit(isRequired ? 'became-required' : 'became-optional', side, { subject })
  }

  const content = (before: unknown, after: unknown, subject: string, side: Side): void =>
    each(
      [before, after],
      (type, isNew) =>
        emit(isNew ? 'media-type-added' : 'media-type-removed', side, { subject: `${type} of ${subject}` }),
      (_, old, now) => {
        schema(old['schema'], now['schema'], subject, side)
        rest(old, now, subject, side, ['schema'])
      },
    )

  const byName = (parameters: unknown): Json =>
    Object.fromEntries(asList(parameters).map((one) => [`${asObject(one)['in']} ${asObject(one)['name']}`, one]))

  const parameters = (before: unknown, after: unknown): void => {
    const [old, now] = [byName(before), byName(after)]
    const subjectOf = (key: string) => key.replace(/^(\w+) (.*)$/, '$1 parameter "$2"')
    each(
      [old, now],
      (key, isNew) => {
        const added = asObject(now[key])['required'] ? 'required-parameter-added' : 'parameter-added'
        emit(isNew ? added : 'parameter-removed', 'request', { subject: subjectOf(key) })
      },
      (key, one, other) => {
        const subject = subjectOf(key)
        requirement(one, other, subject, 'request')
        schema(one['schema'], other['schema'], subject, 'request', one['required'] === true)
        rest(one, other, subject, 'request', ['schema', 'required', 'in', 'name'])
      },
    )
  }

  const headers = (before: unknown, after: unknown, status: string): void =>
    each(
      [before, after],
      (name, isNew) =>
        emit(isNew ? 'header-added' : 'header-removed', 'response', { subject: `header ${name} of ${status}` }),
      (name, old, now) => {
        const subject = `header ${name} of ${status}`
        requirement(old, now, subject, 'response')
        schema(old['schema'], now['schema'], subject, 'response')
        rest(old, now, subject, 'response', ['schema', 'required'])
      },
    )

  const responses = (before: unknown, after: unknown): void =>
    each(
      [before, after],
      (status, isNew) => {
        const removed = /^[23]/.test(status) ? 'success-removed' : 'error-removed'
        emit(isNew ? 'status-added' : removed, 'response', { subject: `response ${status}` })
      },
      (status, old, now) => {
        const subject = `response ${status}`
        headers(old['headers'], now['headers'], status)
        content(old['content'], now['content'], subject, 'response')
        rest(old, now, subject, 'response', ['headers', 'content'])
      },
    )

  const body = (before: unknown, after: unknown): void => {
    const subject = 'request body'
    if (before === undefined || after === undefined) {
      if (after !== undefined) emit('body-added', 'request', { subject })
      if (before !== undefined) emit('body-removed', 'request', { subject })
      return
    }
    const [old, now] = [asObject(before), asObject(after)]
    requirement(old, now, subject, 'request')
    content(old['content'], now['content'], subject, 'request')
    rest(old, now, subject, 'request', ['required', 'content'])
  }

  return (before: Json, after: Json): void => {
    const changed = (key: string, rule: RuleName) => {
      if (isSame(before[key], after[key])) return
      emit(rule, 'request', { subject: operation, before: before[key], after: after[key] })
    }
    changed('operationId', 'operation-renamed')
    changed('tags', 'tag-changed')
    const [wasSecured, isSecured] = [asList(before['security']).length > 0, asList(after['security']).length > 0]
    if (wasSecured === isSecured) changed('security', 'token-scheme-changed')
    else emit(isSecured ? 'token-required' : 'token-not-required', 'request', { subject: operation })
    parameters(before['parameters'], after['parameters'])
    body(before['requestBody'], after['requestBody'])
    responses(before['responses'], after['responses'])
    const covered = ['operationId', 'tags', 'security', 'parameters', 'requestBody', 'responses']
    rest(before, after, operation, 'request', covered)
  }
}
