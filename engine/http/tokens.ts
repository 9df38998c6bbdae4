/** JSON Web Tokens: of an issuer whose keys rotate, or with a shared secret. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { callerReserved, HttpError } from '../contract/errors.js'
import { type Identity, service } from '../descriptor/access.js'
import { isSafeUrl } from '../process/safeUrl.js'
import { Unavailable } from '../storage/failures.js'
import { digestOf } from './keys.js'

/** How much the clocks may differ, in seconds. */
const clockTolerance = 60

/** How often the issuer is asked at most, and how long its keys are used without asking, in milliseconds. */
const [pauseMs, freshMs, timeoutMs] = [30_000, 600_000, 5_000]

const issuerAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

export interface TokenOptions {
  readonly issuer?: string | undefined
  readonly secret?: string | undefined
  readonly audience: string
  readonly rolesClaim?: string | undefined
}

const getJson = async (url: string): Promise<Record<string, unknown>> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' })
  if (!response.ok) throw new Error(`${url} has the status ${response.status}`)
  return (await response.json()) as Record<string, unknown>
}

const fetchKeys = async (issuer: string): Promise<JWTVerifyGetKey> => {
  const { issuer: named, jwks_uri: url } = await getJson(
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
  )
  if (named !== issuer) throw new Error('the issuer has another name in its configuration')
  if (!isSafeUrl(url)) throw new Error('the jwks_uri of the issuer is not an https: address')
  return createLocalJWKSet((await getJson(url)) as unknown as JSONWebKeySet)
}

/** The keys of an issuer: fetched when they are needed, kept while it is away, and asked for again when a key is unknown. */
const issuerKeys = (issuer: string, warn: (message: string) => void): JWTVerifyGetKey => {
  let keys: JWTVerifyGetKey | undefined
  let [askedAt, fetchedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let asking: Promise<void> | undefined
  const ask = (): Promise<void> => {
    if (asking) return asking
    if (performance.now() - askedAt < pauseMs) return Promise.resolve()
    askedAt = performance.now()
    asking = fetchKeys(issuer)
      .then((fetched) => {
        keys = fetched
        fetchedAt = performance.now()
      })
      .catch((error: Error) => warn(`The keys of JWT_ISSUER cannot be fetched: ${error.message}`))
      .finally(() => {
        asking = undefined
      })
    return asking
  }
  return async (header, token) => {
    if (!keys) await ask()
    else if (performance.now() - fetchedAt > freshMs) void ask()
    if (!keys) throw new Unavailable('the keys of JWT_ISSUER were never fetched')
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await ask()
      return keys(header, token)
    }
  }
}

/** A claim by its name, otherwise by a path with dots. */
const claimAt = (payload: JWTPayload, name: string): unknown => {
  if (Object.hasOwn(payload, name)) return payload[name]
  const step = (value: unknown, member: string): unknown =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, member)
      ? (value as Record<string, unknown>)[member]
      : undefined
  return name.split('.').reduce<unknown>(step, payload)
}

const rolesIn = (payload: JWTPayload, name: string): string[] => {
  const claim = claimAt(payload, name)
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean)
  return Array.isArray(claim) ? claim.filter((role) => typeof role === 'string') : []
}

/** Makes the function that finds the caller with a token; undefined if the token is wrong. */
export const tokenVerifier = (
  { issuer, secret, audience, rolesClaim = 'roles' }: TokenOptions,
  warn: (message: string) => void,
) => {
  const key = secret === undefined ? issuerKeys(issuer as string, warn) : new TextEncoder().encode(secret)
  const options = {
    audience,
    clockTolerance,
    requiredClaims: ['exp'],
    algorithms: secret === undefined ? issuerAlgorithms : ['HS256'],
    ...(secret === undefined && { issuer: issuer as string }),
  }
  return async (token: string): Promise<Identity | undefined> => {
    try {
      const { payload } = await jwtVerify(token, key as JWTVerifyGetKey, options)
      const { iss, sub, exp: _, nbf: __, iat: ___, jti: ____, ...others } = payload
      if (sub === service.name) throw callerReserved()
      return {
        name: String(sub ?? ''),
        // Without a subject, callers differ by their other claims.
        owner: `token ${JSON.stringify([iss, sub ?? digestOf(JSON.stringify(others))])}`,
        roles: rolesIn(payload, rolesClaim),
        claims: payload,
        expires: ((payload.exp as number) + clockTolerance) * 1_000,
      }
    } catch (error) {
      if (error instanceof Unavailable || error instanceof HttpError) throw error
      return undefined
    }
  }
}
