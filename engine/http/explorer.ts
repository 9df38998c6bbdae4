/** Serves the explorer's pages: their headers, compression, redirects and downloads. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { internalError } from '../contract/errors.js'
import type { Operation } from '../contract/operations.js'
import { allRights } from '../descriptor/access.js'
import type { Asset } from '../explorer/assets.js'
import { createExplorer, type PageResponse } from '../explorer/index.js'
import type { LaterPage, Page } from '../explorer/layout.js'
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
  const onTime = () => false
  return Promise.race([response.then(onTime, onTime), setTimeout(startAfterMs, true, { ref: false })])
}

/** Serves a file, which is read once. */
export const assetHandler = ({ type, body }: Asset, headers: Record<string, string> = {}): Handler => {
  const tagged = taggedBody(body)
  return async (ctx) => {
    await sendTagged(ctx, tagged, type)
    ctx.set(headers)
  }
}

type AddRoute = (name: string, path: string, handler: Handler) => void

/** Adds the routes of the explorer. Returns what prepares a request for it: errors become pages, also on paths without a route. */
export const addExplorer = (service: Service, operations: readonly Operation[], add: AddRoute) => {
  const { product, registry, storage, token } = service
  const explorer = createExplorer({ product, registry, storage, operations, writes: token !== undefined })
  const renderDocument = (page: Page): string => explorer.start(page.title) + explorer.rest(page)
  const prepare = (ctx: AppContext): void => {
    ctx.set(explorerHeaders)
    ctx.state.errorHtml = (error) => renderDocument(explorer.errorPage(error, `${ctx.path}/`))
  }
  const send = async (ctx: AppContext, response: PageResponse): Promise<void> => {
    if ('redirect' in response) return ctx.redirect(response.redirect)
    if ('format' in response)
      return sendRows(ctx, service, response.resource, response.query, response.format, allRights)
    const html = 'main' in response ? renderDocument(response) : response.source
    await sendTagged(ctx, taggedBody(Buffer.from(html)), htmlType)
  }
  /** The page of a slow query: its start is sent at once. What fails afterwards is shown in it. */
  async function* inParts(ctx: AppContext, { title, later }: LaterPage): AsyncGenerator<Uint8Array> {
    yield Buffer.from(explorer.start(title))
    const page = await later.catch((error) =>
      explorer.errorPage(ctx.state.failed?.(error) ?? internalError(), `${ctx.path}/`),
    )
    yield Buffer.from(explorer.rest(page))
  }
  for (const { name, path, respond } of explorer.routes) {
    const itemPlace = path.split('/').indexOf(':item')
    add(name, path, async (ctx) => {
      prepare(ctx)
      const segment = ctx.path.split('/')[itemPlace] ?? ''
      const origin = `${ctx.protocol}://${ctx.host}`
      // A page has several reads, each of which waits for its client to leave.
      ctx.res.setMaxListeners(30)
      const response = await respond({ segment, querystring: ctx.querystring, origin, caller: ctx.res })
      if (!('later' in response)) return send(ctx, response)
      if (ctx.method !== 'GET' || !(await isLate(response.later))) return send(ctx, await response.later)
      ctx.type = htmlType
      ctx.body = Readable.from(counted(ctx, inParts(ctx, response)))
    })
    // Addresses are typed and pasted with a slash at their end.
    if (!path.endsWith('/')) add(name, `${path}/`, (ctx) => ctx.redirect(ctx.path.slice(0, -1) + ctx.search))
  }
  for (const file of explorer.assets) add('exploreAsset', file.path, assetHandler(file, immutable))
  add('exploreAsset', explorer.favicon.path, assetHandler(explorer.favicon))
  return prepare
}
