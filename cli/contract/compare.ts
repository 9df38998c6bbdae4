/** Compares two OpenAPI documents of this service and reports every difference; a changed keyword that is not known here counts as breaking. */
import { compareSchemas } from './compareSchemas.js'
import { type Difference, differenceList } from './differences.js'
import { allKeys, asList, asObject, isSame, type Json } from './json.js'
import type { RuleName } from './rules.js'
import { type At, type Compare, changed, compareKeywords, compareLists, report, toggled } from './walk.js'

/** Compares the members of two objects; those that only one of them has are reported. */
const members =
  (
    describeSubject: (name: string, parent: string) => string,
    ruleFor: (name: string, isNew: boolean, member: Json) => RuleName,
    compare: (before: Json, after: Json, member: At, at: At) => void,
  ): Compare =>
  (before, after, at) => {
    const [old, now] = [asObject(before), asObject(after)]
    for (const name of allKeys(old, now)) {
      const member = { ...at, subject: describeSubject(name, at.subject) }
      const isNew = old[name] === undefined
      if (!isNew && now[name] !== undefined) compare(asObject(old[name]), asObject(now[name]), member, at)
      else report(member, ruleFor(name, isNew, asObject(now[name])))
    }
  }

const required = toggled('became-required', 'became-optional')

const content = members(
  (type, parent) => `${type} of ${parent}`,
  (_, isNew) => (isNew ? 'media-type-added' : 'media-type-removed'),
  (before, after, _, at) => compareKeywords({ schema: compareSchemas }, before, after, at),
)

const headers = members(
  (name, parent) => `header ${name} of ${parent.replace('response ', '')}`,
  (_, isNew) => (isNew ? 'header-added' : 'header-removed'),
  (before, after, at) => compareKeywords({ required, schema: compareSchemas }, before, after, at),
)

const parameters = members(
  (key) => key.replace(/^(\w+) (.*)$/, '$1 parameter "$2"'),
  (_, isNew, { required: isRequired }) =>
    isNew ? (isRequired ? 'required-parameter-added' : 'parameter-added') : 'parameter-removed',
  (before, after, at) => {
    const schema: Compare = (old, now) => compareSchemas(old, now, at, { isMandatory: before['required'] === true })
    compareKeywords({ required, schema }, before, after, at)
  },
)

const byName = (list: unknown): Json =>
  Object.fromEntries(
    asList(list).map((parameter) => {
      const { in: place, name, ...rest } = asObject(parameter)
      return [`${place} ${name}`, rest]
    }),
  )

const body = members(
  () => 'request body',
  (_, isNew) => (isNew ? 'body-added' : 'body-removed'),
  (before, after, at) => compareKeywords({ required, content }, before, after, at),
)

const ifGiven = (value: unknown): Json => (value === undefined ? {} : { body: value })

const responses = members(
  (status) => `response ${status}`,
  (status, isNew) => (isNew ? 'status-added' : /^[23]/.test(status) ? 'success-removed' : 'error-removed'),
  (before, after, at) => compareKeywords({ headers, content }, before, after, at),
)

const security: Compare = (before, after, at) => {
  const schemes = (list: unknown) => asList(list).map((scheme) => Object.keys(asObject(scheme)).join())
  const [old, now] = [schemes(before), schemes(after)]
  const isSecured = (names: readonly string[]) => names.length > 0 && !names.includes('')
  // Who may use it then, its access says.
  if ([...old, ...now].includes('caller')) return
  if (isSecured(old) === isSecured(now)) changed('token-scheme-changed')(before, after, at)
  else report(at, isSecured(now) ? 'token-required' : 'token-not-required')
}

/** Who gains and who loses an operation. */
const access: Compare = (before, after, at) => {
  // Without rules everybody reads, and only the write token does the rest, which may do everything anyway.
  const everybody = at.subject.startsWith('GET ') ? ['public'] : []
  compareLists(asList(before ?? everybody), asList(after ?? everybody), at, ['access-gained', 'access-lost'])
}

const operation: Readonly<Record<string, Compare>> = {
  'x-access': access,
  operationId: changed('operation-renamed'),
  tags: changed('tag-changed'),
  security,
  parameters: (before, after, at) => parameters(byName(before), byName(after), at),
  requestBody: (before, after, at) => body(ifGiven(before), ifGiven(after), at),
  responses: (before, after, at) => responses(before, after, { ...at, side: 'response' }),
}

/** The operations of a document, by method and path. */
const listOperations = (paths: unknown): Json =>
  Object.fromEntries(
    Object.entries(asObject(paths)).flatMap(([path, methods]) =>
      Object.entries(asObject(methods)).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one]),
    ),
  )

/** What the other parts of a document are about, and the rule for a change of them. */
const frame: Readonly<Record<string, readonly [RuleName, subject: string]>> = {
  servers: ['base-path-changed', 'the service'],
  info: ['description-changed', 'the service'],
  tags: ['description-changed', 'the list of groups'],
}

/** Every difference between the recorded and the current document; none if they are equal. */
export const compareDocuments = (before: Json, after: Json): Difference[] => {
  const list = differenceList()
  const bothComponents = (key: string) => [before, after].map((document) => asObject(document['components'])[key])
  const [old = {}, now = {}] = bothComponents('schemas').map(asObject)
  const start = (subject: string, operation?: string): At => {
    const emit = list.emitFor(operation)
    return { subject, side: 'request', emit, schemas: [old, now], seen: new Set() }
  }
  const [oldPaths, newPaths] = [listOperations(before['paths']), listOperations(after['paths'])]
  for (const name of allKeys(oldPaths, newPaths)) {
    const at = start(name, name)
    if (newPaths[name] === undefined) report(at, 'operation-removed')
    else if (oldPaths[name] === undefined) report(at, 'operation-added')
    else compareKeywords(operation, asObject(oldPaths[name]), asObject(newPaths[name]), at)
  }
  for (const key of allKeys(before, after).filter((name) => name !== 'components' && name !== 'paths')) {
    const [rule, subject] = frame[key] ?? ['keyword-changed', key]
    changed(rule)(before[key], after[key], start(subject))
  }
  const [scheme, newScheme] = bothComponents('securitySchemes')
  const withoutCaller = (schemes: unknown) => ({ ...asObject(schemes ?? {}), caller: undefined })
  changed('token-scheme-changed')(withoutCaller(scheme), withoutCaller(newScheme), start('the service'))
  const differences = list.all()
  if (differences.length > 0 || JSON.stringify(before) === JSON.stringify(after)) return differences
  report(start('the document'), isSame(before, after) ? 'order-changed' : 'keyword-changed')
  return list.all()
}
