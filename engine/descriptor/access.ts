/** What follows for a caller from what descriptors say about access. */
import { type AccessName, type AccessRule, type Claim, rulesOf } from './define.js'
import { canonicalOf, isValueOf, isWhole, type ParameterValue } from './kinds/index.js'
import type { Field, GivenValue, Resource } from './registry.js'
import { isPath, rulePath } from './rulePaths.js'

/** Who sends a request; nobody has no roles and no claims. */
export interface Identity {
  /** Undefined for a caller without a key or token. */
  readonly name?: string | undefined
  /** Whom its idempotency keys belong to: a key and a token may have the same name. */
  readonly owner?: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
  /** Whether it has the write token, with which everything is allowed. */
  readonly isService?: boolean
  /** When its key or token ends, in milliseconds. */
  readonly expires?: number | undefined
}

export const nobody: Identity = { roles: [], claims: {} }
export const service: Identity = { name: 'API_TOKEN', roles: [], claims: {}, isService: true }

/** The values that fields may have in a row, or in the row that its references lead to: by the name of the field or the path. */
export type RowRule = Readonly<Record<string, readonly ParameterValue[]>>

/** All rows, or those for which one of the rules holds; with an empty list none. */
export type Rows = 'all' | readonly RowRule[]

/** What a caller sees of a resource, and which rows it may create, change and delete. */
export interface ResourceRights extends Readonly<Record<AccessName, Rows>> {
  /** The fields that are null for it. */
  readonly hidden: readonly string[]
  /** The fields that it may not set, although it may see them. */
  readonly readOnly: readonly string[]
}

/** What a caller may do. */
export interface Rights {
  of(resource: Resource): ResourceRights
}

const maxClaimValues = 100

/** The values of a claim that a field can have; none if the claim is absent, of another type, or too long. */
const claimValues = (field: Field, { claims }: Identity, { name }: Claim): readonly ParameterValue[] => {
  const claimed = Object.hasOwn(claims, name) ? claims[name] : undefined
  const claimedValues: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed]
  if (claimedValues.length > maxClaimValues) return []
  const valid = claimedValues.filter((value) => value !== undefined && value !== null && isValueOf(field, value))
  const values = valid.map((value) => canonicalOf(field, value as GivenValue) as ParameterValue)
  return [...new Set(values.map((value) => (isWhole(field) ? BigInt(value) : value)))]
}

export const hasRole = ({ name, roles }: Identity, word: string): boolean =>
  word === 'public' || (word === 'signed-in' ? name !== undefined : roles.includes(word))

const allowedRows = (resource: Resource, rules: readonly AccessRule[], caller: Identity): Rows => {
  const rows: RowRule[] = []
  for (const rule of rules) {
    if (typeof rule === 'string') {
      if (hasRole(caller, rule)) return 'all'
      continue
    }
    const values = Object.entries(rule).map(([name, claimed]): [string, readonly ParameterValue[]] => {
      const field = rulePath(resource, name).at(-1) as Field
      return [name, claimValues(field, caller, claimed as Claim)]
    })
    if (values.every(([, allowed]) => allowed.length > 0)) rows.push(Object.fromEntries(values))
  }
  return rows
}

/** Whether a read of the resource depends on who sends it. */
export const isGuarded = ({ access, fields }: Resource): boolean =>
  (access !== undefined && !isPublic({ access })) || fields.some(({ readBy }) => readBy)

/** The demo rows that examples may show: none of a resource with rules about who may see or do what. */
export const exampleRows = (resource: Resource): Resource['demo'] =>
  resource.access || isGuarded(resource) ? [] : resource.demo

/** Whether everybody may read the resource. */
export const isPublic = ({ access }: Pick<Resource, 'access'>): boolean =>
  access === undefined || rulesOf(access.read).includes('public')

const rightsIn = (resource: Resource, caller: Identity): ResourceRights => {
  const { access = { read: 'public' }, fields } = resource
  const rows = (name: AccessName): Rows =>
    caller.isService ? 'all' : allowedRows(resource, rulesOf(access[name]), caller)
  const lacks = (roles: readonly string[] | undefined) =>
    roles && !caller.isService && !roles.some((word) => hasRole(caller, word))
  const hidden = fields.filter(({ readBy }) => lacks(readBy))
  const readOnly = fields.filter((field) => !hidden.includes(field) && lacks(field.writeBy))
  return {
    read: rows('read'),
    create: rows('create'),
    update: rows('update'),
    delete: rows('delete'),
    hidden: hidden.map(({ name }) => name),
    readOnly: readOnly.map(({ name }) => name),
  }
}

/** What a caller may do; computed once for each resource. */
export const rightsOf = (caller: Identity): Rights => {
  const rightsByResource = new Map<Resource, ResourceRights>()
  return {
    of(resource) {
      const rights = rightsByResource.get(resource) ?? rightsIn(resource, caller)
      rightsByResource.set(resource, rights)
      return rights
    },
  }
}

/** All rights, which whoever operates the service has. */
export const allRights = rightsOf(service)

/** Whether a caller sees all rows and fields of a resource. */
export const seesAll = ({ read, hidden }: ResourceRights): boolean => read === 'all' && hidden.length === 0

export const isAllowed = (rows: Rows): boolean => rows === 'all' || rows.length > 0

/** A reference as a noun: `loan` for `loan_id`. */
const nounOf = (name: string): string => name.replace(/_id$/, '').replaceAll('_', ' ')

/** A path in words: `whose loan belongs to the caller's institution`. */
const describePath = (path: string, claimed: string): string => {
  const names = path.split('.')
  const last = names.pop() as string
  const whose = `whose ${names.map(nounOf).join("'s ")}`
  const isOwn = last.endsWith('_id') && nounOf(last) === nounOf(claimed)
  return isOwn ? `${whose} belongs to the caller's ${nounOf(last)}` : `${whose} has ${last} = claim ${claimed}`
}

const describeRule = (rule: Exclude<AccessRule, string>): string => {
  const claims = Object.entries(rule).map(([name, claimed]) => [name, claimed?.name ?? ''] as const)
  const own = claims.filter(([name]) => !isPath(name)).map(([name, claimed]) => `${name} = claim ${claimed}`)
  const paths = claims.filter(([name]) => isPath(name)).map(([path, claimed]) => describePath(path, claimed))
  return `rows ${[...(own.length > 0 ? [`with ${own.join(' and ')}`] : []), ...paths].join(' and ')}`
}

/** Who may use the operations of a resource, in words: `hr, rows with employee_id of the caller`. */
export const describeRules = (rules: readonly AccessRule[]): string =>
  rules.map((rule) => (typeof rule === 'string' ? rule : describeRule(rule))).join(', ') || 'API_TOKEN'
