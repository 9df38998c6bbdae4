/** The sessions of the explorer: who a visitor is, in a sealed cookie that nothing else takes. */
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { tooManyAttempts } from '../contract/errors.js'
import { type Identity, service as serviceCaller } from '../descriptor/access.js'
import { accessNames, isClaim, rulesOf } from '../descriptor/define.js'
import { digestOf } from './keys.js'
import type { AppContext } from './requestLog.js'
import { sealer } from './seals.js'
import type { Service } from './serviceParts.js'

const cookieName = 'registry_session'

/** How long a session lasts at most, in milliseconds. */
const sessionMs = 8 * 3_600_000

/** So many attempts to sign in may fail before an address waits, and how long it waits then, and at most. */
const [freeAttempts, pauseMs, maxWaitMs] = [5, 1_000, 10_000]

/** What a session knows: the digest of a key or of the write token, which must still be valid; or what a token said. */
type Sealed = { readonly until: number } & (
  | { readonly digest: string }
  | { readonly caller: Pick<Identity, 'name' | 'owner' | 'roles' | 'claims'> }
)

/** The roles and claims that rules use: a cookie has no room for all that a token says. */
export const usedNames = ({ registry, operations = [] }: Pick<Service, 'registry' | 'operations'>) => {
  const ofResources = registry.flatMap(({ access, fields }) => [
    ...accessNames.flatMap((name) => rulesOf(access?.[name])),
    ...fields.flatMap(({ readBy = [], writeBy = [] }) => [...readBy, ...writeBy]),
  ])
  const rules = [...ofResources, ...operations.flatMap(({ access }) => access)]
  return {
    usedRoles: new Set(rules.filter((rule) => typeof rule === 'string')),
    usedClaims: new Set(
      rules.flatMap((rule) =>
        typeof rule === 'string'
          ? []
          : Object.values(rule)
              .filter(isClaim)
              .map(({ name }) => name),
      ),
    ),
  }
}

const isSecure = (ctx: AppContext): boolean => ctx.secure || ctx.get('X-Forwarded-Proto') === 'https'

/** Whether a request comes from a page of this service. */
export const isSameOrigin = (ctx: AppContext): boolean => {
  const origin = ctx.get('Origin')
  return URL.canParse(origin) && new URL(origin).host === ctx.get('Host').toLowerCase()
}

export const createSessions = (service: Service) => {
  const { token, credentials, callers, sessionSecret } = service
  // Who may sign in otherwise has no session any more.
  const { seal, open } = sealer<Sealed>(
    'sessions of the explorer',
    `${credentials?.settings ?? ''} ${sessionSecret ?? randomBytes(32).toString('base64url')}`,
  )
  const tokenDigest = token === undefined ? undefined : digestOf(Buffer.from(token, 'utf8'))
  const { usedRoles, usedClaims } = usedNames(service)
  // The same object for the same session: what follows from it is computed once.
  const opened = new LRUCache<string, Identity>({ max: 1_000 })
  const attempts = new LRUCache<string, { failed: number; readyAt: number }>({ max: 10_000, ttl: 600_000 })

  const callerIn = (cookie: string): Identity | undefined => {
    const content = open(cookie)
    if (!content || Date.now() >= content.until) return undefined
    if ('digest' in content)
      return content.digest === tokenDigest ? serviceCaller : credentials?.keys?.find(content.digest)
    const caller = opened.get(cookie) ?? { ...content.caller, expires: content.until }
    opened.set(cookie, caller)
    return caller
  }
  const setCookie = (ctx: AppContext, value: string, maxAge: number): void => {
    const attributes = [
      `Max-Age=${maxAge}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure(ctx) ? ['Secure'] : []),
    ]
    ctx.append('Set-Cookie', [`${cookieName}=${value}`, ...attributes].join('; '))
  }
  /** An address with many failures waits, one attempt after the other. */
  const waitForTurn = async (address: string): Promise<void> => {
    const addressAttempts = attempts.get(address)
    if (!addressAttempts || addressAttempts.failed < freeAttempts) return
    const now = performance.now()
    const wait = Math.max(0, addressAttempts.readyAt - now) + pauseMs
    if (wait > maxWaitMs) throw tooManyAttempts()
    addressAttempts.readyAt = now + wait
    await setTimeout(wait)
  }
  return {
    /** Who a visitor is; undefined if it has not signed in. */
    read(ctx: AppContext): Identity | undefined {
      const cookie = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]+)`).exec(ctx.req.headers.cookie ?? '')?.[1]
      const caller = cookie === undefined ? undefined : callerIn(cookie)
      return caller && Date.now() < (caller.expires ?? Number.POSITIVE_INFINITY) ? caller : undefined
    },
    /** Begins a session with a key, a token or the write token; undefined if it is wrong. */
    async start(ctx: AppContext, secret: string): Promise<Identity | undefined> {
      const address = ctx.req.socket.remoteAddress ?? ''
      await waitForTurn(address)
      const caller = await callers.find(Buffer.from(secret, 'utf8').toString('latin1'))
      if (!caller) {
        const { failed = 0, readyAt = 0 } = attempts.get(address) ?? {}
        attempts.set(address, { failed: failed + 1, readyAt })
        return undefined
      }
      attempts.delete(address)
      const until = Math.min(Date.now() + sessionMs, caller.expires ?? Number.POSITIVE_INFINITY)
      const digest = digestOf(Buffer.from(secret, 'utf8'))
      const isKey = caller.isService || credentials?.keys?.find(digest) !== undefined
      const { name, owner } = caller
      const roles = caller.roles.filter((role) => usedRoles.has(role))
      const claims = Object.fromEntries(Object.entries(caller.claims).filter(([one]) => usedClaims.has(one)))
      const content: Sealed = isKey
        ? { until, digest }
        : { until, caller: { name, ...(owner !== undefined && { owner }), roles, claims } }
      setCookie(ctx, seal(content), Math.floor((until - Date.now()) / 1_000))
      return caller
    },
    end: (ctx: AppContext): void => setCookie(ctx, '', 0),
  }
}

export type Sessions = ReturnType<typeof createSessions>
