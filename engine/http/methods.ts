/** What happens where no operation answers: an unknown path, another method, or the question what is allowed. */
import type { Middleware } from 'koa'
import { methodNotAllowed, pathNotFound } from '../contract/errors.js'
import type { State } from './exchange.js'

/** The layers of the router that fit the path, whatever their method. */
interface Matched {
  matched?: readonly { methods: readonly string[] }[]
}

/** What a browser asks before it sends another page's request. */
const preflight = (methods: string): string[] => [
  'Access-Control-Allow-Methods',
  methods,
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id',
  'Access-Control-Max-Age',
  '86400',
]

/** Runs after the router. */
export const otherMethods: Middleware<State> = async (ctx) => {
  const methods = new Set(((ctx as Matched).matched ?? []).flatMap((layer) => layer.methods))
  if (methods.size === 0) throw pathNotFound()
  const allow = [...methods, 'OPTIONS'].sort().join(', ')
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, allow)
  const isPreflight = ctx.get('Access-Control-Request-Method') !== ''
  ctx.state.answer = { status: 204, headers: ['Allow', allow, ...(isPreflight ? preflight(allow) : [])] }
}
