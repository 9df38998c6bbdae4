/** The headers that every response has, and those of pages for people. */
import type { Middleware } from 'koa'
import { responseHeaders } from '../contract/headers.js'

const policy = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]

/** `directives` are the parts of the policy in which pages differ. */
export const pageHeaders = (...directives: readonly string[]) => ({
  'Content-Security-Policy': [...policy, ...directives, "base-uri 'none'", "frame-ancestors 'none'"].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
})

/**
 * Responses are data: they load nothing, may not be framed or sniffed, and any page may read them, because reads are
 * public and no browser sends the write token by itself. Each further header costs half a microsecond, so those that only
 * concern pages are set on the docs page alone. HSTS belongs to the proxy that terminates TLS.
 */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': ['Server-Timing', ...Object.keys(responseHeaders)].join(', '),
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
}

const entries = Object.entries(commonHeaders)

export const setCommonHeaders: Middleware = (ctx, next) => {
  for (const [name, value] of entries) ctx.res.setHeader(name, value)
  return next()
}

export const preflightHeaders = (allow: string): Record<string, string> => ({
  'Access-Control-Allow-Methods': allow,
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, traceparent',
  'Access-Control-Max-Age': '86400',
})
