/** Serves the explorer's pages: their headers, compression, redirects and downloads. */
import type { Operation } from '../contract/operations.js'
import type { Asset } from '../explorer/assets.js'
import { explorerOf, type PageResponse, type Route } from '../explorer/index.js'
import { pageHeaders } from './commonHeaders.js'
import { sendTagged, taggedBody } from './conditional.js'
import { sendRows } from './download.js'
import type { Handler, Service } from './handlers.js'
import type { AppContext } from './requestLog.js'

const explorerHeaders = pageHeaders("img-src 'self'", "form-action 'self'")

/** The path of a file has the digest of its contents. */
const immutable = 'public, max-age=31536000, immutable'

const htmlType = 'text/html; charset=utf-8'

interface PageRoute {
  readonly name: string
  readonly path: string
  readonly handler: Handler
}

/** The routes of the explorer; `prepare` turns errors into pages, also on paths without a route. */
export const explorerRoutes = (service: Service, operations: readonly Operation[]) => {
  const { product, registry, storage, token } = service
  const explorer = explorerOf({ product, registry, storage, operations, writes: token !== undefined })
  const prepare = (ctx: AppContext): void => {
    ctx.set(explorerHeaders)
    ctx.state.errorHtml = (error) => explorer.errorHtml(error, `${ctx.path}/`)
  }
  const send = async (ctx: AppContext, response: PageResponse): Promise<void> => {
    if ('redirect' in response) {
      ctx.redirect(response.redirect)
      return
    }
    if ('format' in response) return sendRows(ctx, service, response.resource, response.query, response.format)
    ctx.status = response.status
    await sendTagged(ctx, taggedBody(Buffer.from(response.html)), htmlType)
  }
  const page = ({ name, path, respond }: Route): PageRoute => ({
    name,
    path,
    async handler(ctx) {
      prepare(ctx)
      const segment = ctx.path.split('/')[3] ?? ''
      const origin = `${ctx.protocol}://${ctx.host}`
      await send(ctx, await respond({ segment, querystring: ctx.querystring, origin, caller: ctx.res }))
    },
  })
  /** Addresses are typed and pasted with a slash at their end. */
  const withSlash = ({ name, path }: Route): PageRoute => ({
    name,
    path: `${path}/`,
    handler: (ctx) => ctx.redirect(ctx.path.slice(0, -1) + ctx.search),
  })
  const pages = explorer.routes.filter(({ path }) => !path.endsWith('/'))
  const asset = ({ path, type, body }: Asset, cacheControl: string): PageRoute => {
    const tagged = taggedBody(body)
    const handler: Handler = async (ctx) => {
      await sendTagged(ctx, tagged, type)
      ctx.set('Cache-Control', cacheControl)
    }
    return { name: 'exploreAsset', path, handler }
  }
  const assets = [...explorer.assets.map((file) => asset(file, immutable)), asset(explorer.favicon, 'no-cache')]
  return { routes: [...assets, ...explorer.routes.map(page), ...pages.map(withSlash)], prepare }
}
