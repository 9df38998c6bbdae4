/** Compares two OpenAPI documents of this service and reports every difference. */
import { operationComparison, type Schemas } from './compareOperations.js'
import { type Difference, differenceList, type Emit } from './differences.js'
import { asObject, isSame, type Json, keysOf } from './json.js'
import type { RuleName } from './rules.js'

/** The operations of a document, by method and path. */
const operationsOf = (document: Json): Json =>
  Object.fromEntries(
    Object.entries(asObject(document['paths'])).flatMap(([path, methods]) =>
      Object.entries(asObject(methods)).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one]),
    ),
  )

/** Compares the parts of the documents outside the operations. */
const compareFrame = (before: Json, after: Json, emit: Emit): void => {
  const changed = (key: string, rule: RuleName, subject: string) => {
    if (isSame(before[key], after[key])) return
    emit(rule, 'request', { subject, before: before[key], after: after[key] })
  }
  changed('servers', 'base-path-changed', 'the service')
  for (const [key, subject] of [
    ['info', 'the service'],
    ['tags', 'the list of groups'],
  ] as const) {
    if (!isSame(before[key], after[key])) emit('description-changed', 'request', { subject })
  }
  const [old, now] = [asObject(before['components']), asObject(after['components'])]
  const [scheme, newScheme] = [old['securitySchemes'], now['securitySchemes']]
  if (!isSame(scheme, newScheme)) {
    emit('token-scheme-changed', 'request', { subject: 'the service', before: scheme, after: newScheme })
  }
  for (const key of keysOf(before, after)) {
    if (!['servers', 'info', 'tags', 'components', 'paths'].includes(key)) changed(key, 'keyword-changed', key)
  }
}

/** Every difference between the recorded and the current document; none if they are equal. */
export const compareDocuments = (before: Json, after: Json): Difference[] => {
  const list = differenceList()
  const schemasOf = (document: Json) => asObject(asObject(document['components'])['schemas'])
  const schemas: Schemas = { before: schemasOf(before), after: schemasOf(after) }
  const [old, now] = [operationsOf(before), operationsOf(after)]
  for (const operation of keysOf(old, now)) {
    const emit = list.emitFor(operation)
    if (now[operation] === undefined) emit('operation-removed', 'request', { subject: operation })
    else if (old[operation] === undefined) emit('operation-added', 'request', { subject: operation })
    else operationComparison(schemas, operation, emit)(asObject(old[operation]), asObject(now[operation]))
  }
  compareFrame(before, after, list.emitFor())
  const found = list.all()
  if (found.length > 0 || JSON.stringify(before) === JSON.stringify(after)) return found
  const rule: RuleName = isSame(before, after) ? 'order-changed' : 'keyword-changed'
  list.emitFor()(rule, 'request', { subject: 'the document' })
  return list.all()
}
