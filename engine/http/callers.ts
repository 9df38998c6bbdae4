/** Who sends a request, and what that caller may do with a resource. */
import { createHash, timingSafeEqual } from 'node:crypto'
import * as errors from '../contract/errors.js'
import { forbiddenParameters } from '../contract/hiddenFields.js'
import { queryParameters } from '../contract/parameters.js'
import {
  allRights,
  hasRole,
  type Identity,
  isAllowed,
  isGuarded,
  isPublic,
  nobody,
  type Rights,
  rightsOf,
  service as serviceCaller,
} from '../descriptor/access.js'
import type { AccessName } from '../descriptor/define.js'
import { expandableFields, expandableReferrers } from '../descriptor/expansion.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Caller as StorageCaller } from '../storage/storage.js'
import { digestOf, type Keys } from './keys.js'
import type { AppContext } from './requestLog.js'

/** Where callers other than the one with the write token are known from. */
export interface Credentials {
  readonly keys?: Keys | undefined
  readonly verifyToken?: ((token: string) => Promise<Identity | undefined>) | undefined
  /** What tokens are verified by: with other settings, sessions that began with one end. */
  readonly settings?: string | undefined
}

export interface CallerSources {
  /** The write token, with which everything is allowed. */
  readonly token: string | undefined
  /** Where other callers are known from; without them and without a write token, writes are disabled. */
  readonly credentials?: Credentials | undefined
}

type Found<T> = T | Promise<T>

/** Digests have one length, so comparing two takes the same time whatever was sent. */
const sha256 = (token: Buffer): Buffer => createHash('sha256').update(token).digest()

/** What a request may do, and who sends it. */
export interface Permit {
  readonly caller: Identity
  readonly rights: Rights
}

const servicePermit: Permit = { caller: serviceCaller, rights: allRights }
const permits = new WeakMap<Identity, Permit>([[serviceCaller, servicePermit]])

export const permitFor = (caller: Identity): Permit => {
  const permit = permits.get(caller) ?? { caller, rights: rightsOf(caller) }
  permits.set(caller, permit)
  return permit
}

const isExpired = ({ expires }: Identity): boolean => expires !== undefined && Date.now() >= expires

const then = <T, R>(pending: Found<T>, next: (value: T) => R): Found<R> =>
  pending instanceof Promise ? pending.then(next) : next(pending)

/** Makes the functions that find out who sends a request. */
export const callerReader = ({ token, credentials }: CallerSources) => {
  const expected = token === undefined ? undefined : sha256(Buffer.from(token, 'utf8'))
  const { keys, verifyToken } = credentials ?? {}
  const isConfigured = expected !== undefined || keys !== undefined || verifyToken !== undefined
  /** Whether there are callers other than the one with the write token. */
  const hasOthers = keys !== undefined || verifyToken !== undefined

  /** The caller with a key or token; undefined if there is none. */
  const find = (secret: string): Found<Identity | undefined> => {
    // Node decodes headers as Latin-1; as bytes, a token in UTF-8 compares as it was sent.
    const bytes = Buffer.from(secret, 'latin1')
    if (expected && timingSafeEqual(sha256(bytes), expected)) return serviceCaller
    const keyHolder = keys?.find(digestOf(bytes))
    if (keyHolder) return isExpired(keyHolder) ? undefined : keyHolder
    return verifyToken && secret.split('.').length === 3 ? verifyToken(secret) : undefined
  }
  const sentIn = (ctx: AppContext): string | undefined =>
    /^bearer +(\S.*)$/i.exec(ctx.req.headers.authorization ?? '')?.[1]
  const remember = (ctx: AppContext, caller: Identity): Permit => {
    if (!caller.isService) {
      ctx.state.caller = caller.name
      // Callers behind one address take turns, too.
      Object.assign(ctx.res, { callerName: caller.name } satisfies Partial<StorageCaller>)
    }
    return permitFor(caller)
  }
  return {
    isConfigured,
    hasOthers,
    find,
    /** The caller, or nobody. */
    optional(ctx: AppContext): Found<Permit> {
      if (ctx.state.session) return remember(ctx, ctx.state.session)
      const secret = sentIn(ctx)
      return then(secret === undefined ? nobody : find(secret), (caller = nobody) => remember(ctx, caller))
    },
    /** The caller; throws 401 if there is none. */
    required(ctx: AppContext, what: 'write' | 'read'): Found<Permit> {
      if (ctx.state.session) return remember(ctx, ctx.state.session)
      const secret = sentIn(ctx)
      const isToken = what === 'write' && !hasOthers
      if (secret === undefined) throw isToken ? errors.tokenMissing() : errors.callerMissing()
      return then(find(secret), (caller) => {
        if (!caller) throw isToken ? errors.tokenWrong() : errors.callerUnknown()
        return remember(ctx, caller)
      })
    },
  }
}

export type Callers = ReturnType<typeof callerReader>

/** Makes the checks that precede the operations of a resource: who sends the request, and whether its roles or claims allow it. */
export const resourceGuard = ({ registry, callers }: { registry: Registry; callers: Callers }, resource: Resource) => {
  const isOpen = !isGuarded(resource)
  const isExpandedOpen = !expandedResources(registry, resource).some(isGuarded)
  const canRead = isPublic(resource)
  /** Whether the response is the same for everybody. */
  const isSame = ({ querystring }: AppContext): boolean =>
    isOpen && (isExpandedOpen || querystring === '' || !queryParameters(querystring).has('expand'))

  const readable = (permit: Permit): Rights => {
    if (!canRead && !isAllowed(permit.rights.of(resource).read)) throw errors.forbidden()
    return permit.rights
  }
  return {
    /** The rights of a read; without rules all of them, whoever sends it. */
    read(ctx: AppContext, { namesFields = true } = {}): Found<Rights> {
      if (isSame(ctx)) return allRights
      ctx.state.isPrivate = true
      return then(canRead ? callers.optional(ctx) : callers.required(ctx, 'read'), (permit) => {
        const rights = readable(permit)
        if (namesFields && ctx.querystring !== '') forbiddenParameters(registry, resource, rights, ctx.querystring)
        return rights
      })
    },
    /** The rights of a read of which the service sees more than others who may read everything. */
    readAs(ctx: AppContext): Found<Rights> {
      ctx.state.isPrivate = true
      return then(canRead ? callers.optional(ctx) : callers.required(ctx, 'read'), readable)
    },
    /** The permit of what only the write token may do. */
    service(ctx: AppContext): Found<Permit> {
      if (!callers.isConfigured) throw errors.writesDisabled()
      return then(callers.required(ctx, 'write'), (permit) => {
        if (!permit.caller.isService) throw errors.forbidden()
        return permit
      })
    },
    /** The permit of a write. */
    write(ctx: AppContext, ...names: readonly AccessName[]): Found<Permit> {
      ctx.state.isPrivate = !isOpen
      if (!callers.isConfigured) throw errors.writesDisabled()
      return then(callers.required(ctx, 'write'), (permit) => {
        const resourceRights = permit.rights.of(resource)
        if (!names.every((name) => isAllowed(resourceRights[name]))) throw errors.forbidden()
        return permit
      })
    },
  }
}

/** Makes the check of an operation for which some roles are enough; without any, it needs the write token. */
export const roleGuard = ({ callers }: { callers: Callers }, words: readonly string[]) => {
  const isOpen = words.includes('public')
  return (ctx: AppContext): Found<Permit> => {
    if (isOpen) return callers.optional(ctx)
    return then(callers.required(ctx, 'read'), (permit) => {
      const { caller } = permit
      if (!caller.isService && !words.some((word) => hasRole(caller, word))) throw errors.forbidden()
      return permit
    })
  }
}

const expandedResources = (registry: Registry, resource: Resource): Resource[] => [
  ...expandableFields(resource).flatMap(({ references }) => registry.filter(({ path }) => path === references)),
  ...[...expandableReferrers(registry, resource).values()].map((reference) => reference.resource),
]
