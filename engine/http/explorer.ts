/** Serves the explorer's pages: their headers, compression, redirects and downloads. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { internalError } from '../contract/errors.js'
import type { Operation } from '../contract/operations.js'
import type { Asset } from '../explorer/assets.js'
import { explorerOf, type LaterResponse, type PageResponse, type Route } from '../explorer/index.js'
import { pageHeaders } from './commonHeaders.js'
import { counted, sendTagged, taggedBody } from './conditional.js'
import { sendRows } from './download.js'
import type { Handler, Service } from './handlers.js'
import type { AppContext } from './requestLog.js'

const explorerHeaders = pageHeaders("img-src 'self'", "form-action 'self'")

/** The path of a file has the digest of its contents. */
const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' }

const htmlType = 'text/html; charset=utf-8'

/** How long a page may wait for its rows before its start is sent, in milliseconds. */
const startAfterMs = 50

const isLate = (response: Promise<unknown>): Promise<boolean> => {
  const onTime = response.then(
    () => false,
    () => false,
  )
  return Promise.race([onTime, setTimeout(startAfterMs, true, { ref: false })])
}

/** Serves a file, which is read once. */
export const assetHandler = ({ type, body }: Asset, headers: Record<string, string> = {}): Handler => {
  const tagged = taggedBody(body)
  return async (ctx) => {
    await sendTagged(ctx, tagged, type)
    ctx.set(headers)
  }
}

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
  /** The page of a slow query: its start is sent at once. What fails afterwards is shown in it. */
  async function* inParts(ctx: AppContext, { start, later }: LaterResponse): AsyncGenerator<Uint8Array> {
    yield Buffer.from(start)
    const { html } = await later.catch((error) => {
      const shown = ctx.state.failed?.(error) ?? internalError()
      return { html: explorer.errorHtml(shown, `${ctx.path}/`) }
    })
    yield Buffer.from(html.slice(html.indexOf('<body>') + '<body>'.length))
  }
  const page = ({ name, path, respond }: Route): PageRoute => ({
    name,
    path,
    async handler(ctx) {
      prepare(ctx)
      const segment = ctx.path.split('/')[3] ?? ''
      const origin = `${ctx.protocol}://${ctx.host}`
      // A page has several reads, each of which waits for its client to leave.
      ctx.res.setMaxListeners(30)
      const response = await respond({ segment, querystring: ctx.querystring, origin, caller: ctx.res })
      if (!('later' in response)) return send(ctx, response)
      if (ctx.method !== 'GET' || !(await isLate(response.later))) return send(ctx, await response.later)
      ctx.type = htmlType
      ctx.body = Readable.from(counted(ctx, inParts(ctx, response)))
    },
  })
  /** Addresses are typed and pasted with a slash at their end. */
  const withSlash = ({ name, path }: Route): PageRoute => ({
    name,
    path: `${path}/`,
    handler: (ctx) => ctx.redirect(ctx.path.slice(0, -1) + ctx.search),
  })
  const pages = explorer.routes.filter(({ path }) => !path.endsWith('/'))
  const asset = (file: Asset, headers?: Record<string, string>): PageRoute => ({
    name: 'exploreAsset',
    path: file.path,
    handler: assetHandler(file, headers),
  })
  const assets = [...explorer.assets.map((file) => asset(file, immutable)), asset(explorer.favicon)]
  return { routes: [...assets, ...explorer.routes.map(page), ...pages.map(withSlash)], prepare }
}
