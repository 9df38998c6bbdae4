/** What happens where no operation answers: an unknown path, another method, or the question what is allowed. */
import type { Middleware } from 'koa'
import { methodNotAllowed, pathNotFound } from '../contract/errors.js'

/** The layers of the router that fit the path, whatever their method. */
interface Matched {
  matched?: readonly { methods: readonly string[] }[]
}

/** Runs after the router. */
export const otherMethods: Middleware = async (ctx) => {
  const methods = new Set(((ctx as Matched).matched ?? []).flatMap((layer) => layer.methods))
  if (methods.size === 0) throw pathNotFound()
  const allow = [...methods, 'OPTIONS'].sort().join(', ')
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, allow)
  ctx.status = 204
  ctx.set('Allow', allow)
  if (ctx.get('Access-Control-Request-Method')) {
    ctx.set('Access-Control-Allow-Methods', allow)
    ctx.set('Access-Control-Allow-Headers', 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id')
    ctx.set('Access-Control-Max-Age', '86400')
  }
}
