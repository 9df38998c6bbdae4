/** Answers requests with pages of the explorer, as each visitor may see them: in parts if a query is slow, with downloads and redirects. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { hasAccess } from '../contract/accessDocuments.js'
import * as errors from '../contract/errors.js'
import type { Operation } from '../contract/operations.js'
import { type Identity, nobody } from '../descriptor/access.js'
import type { Posted } from '../explorer/controlTexts.js'
import type { PageRoute } from '../explorer/index.js'
import { errorPage, renderPage, renderRest, renderStart } from '../explorer/layout.js'
import type { LaterPage, Page, PageResponse, Visitor } from '../explorer/page.js'
import { visitorFor } from '../explorer/visitor.js'
import { oncePer } from '../process/oncePer.js'
import { permitFor } from './callers.js'
import { counted, sendTagged, taggedBody } from './conditional.js'
import { sendRows } from './download.js'
import type { AppContext } from './requestLog.js'
import type { Service } from './serviceParts.js'

const htmlType = 'text/html; charset=utf-8'

/** How long a page may wait for its rows before its start is sent, in milliseconds. */
const startAfterMs = 50

const isLate = (response: Promise<unknown>): Promise<boolean> => {
  const onTime = () => false
  return Promise.race([response.then(onTime, onTime), setTimeout(startAfterMs, true, { ref: false })])
}

/** The page of a slow query: its start is sent at once. What fails afterwards is shown in it. */
async function* inParts(ctx: AppContext, visitor: Visitor, { title, later }: LaterPage): AsyncGenerator<Uint8Array> {
  yield Buffer.from(renderStart(visitor.product, title))
  const page = await later.catch((error) =>
    errorPage(visitor, ctx.state.failed?.(error) ?? errors.internalError(), ctx.path),
  )
  yield Buffer.from(renderRest(visitor, page))
}

const identityOf = (ctx: AppContext): Identity => ctx.state.session ?? nobody

export const createPages = (service: Service, operations: readonly Operation[]) => {
  const { product, registry, storage, callers } = service
  const isGuarded = hasAccess(registry)
  const canSignIn = callers.isConfigured || isGuarded
  const offer = { product, registry, storage, operations, writes: callers.isConfigured, canSignIn }
  const visitorOf = oncePer((identity: Identity) => visitorFor(offer, identity, permitFor(identity).rights))

  /** What a visitor sees stays in its browser. */
  const setPrivate = (ctx: AppContext): void => {
    if (!ctx.state.session && !isGuarded) return
    if (ctx.state.session) ctx.set('Cache-Control', 'private, no-store')
    ctx.vary('Cookie')
  }

  const send = async (ctx: AppContext, visitor: Visitor, response: Exclude<PageResponse, LaterPage>): Promise<void> => {
    if ('redirect' in response) return ctx.redirect(response.redirect)
    if ('format' in response) {
      const { resource: seen, query, format, columns } = response
      const resource = registry.find(({ path }) => path === seen.path) ?? seen
      return sendRows(ctx, service, resource, query, format, permitFor(identityOf(ctx)).rights, columns)
    }
    if ('file' in response) {
      ctx.set('Content-Disposition', `attachment; filename="${response.file}"`)
      return sendTagged(ctx, taggedBody(Buffer.from(response.text)), response.type)
    }
    const html = 'main' in response ? renderPage(visitor, response) : response.source
    await sendTagged(ctx, taggedBody(Buffer.from(html)), htmlType)
    if ('status' in response && response.status && ctx.status === 200) ctx.status = response.status
  }

  return {
    setPrivate,
    identityOf,
    visitorOf: (ctx: AppContext): Visitor => visitorOf(identityOf(ctx)),
    /** Answers with the page of a route; a form may be shown again, with what it has sent and what is wrong with it. */
    async respond(ctx: AppContext, { path, page }: PageRoute, posted?: Posted): Promise<void> {
      const visitor = visitorOf(identityOf(ctx))
      const segment = ctx.path.split('/')[path.split('/').indexOf(':item')] ?? ''
      const origin = `${ctx.protocol}://${ctx.host}`
      // A page has several reads, each of which waits for its client to leave.
      ctx.res.setMaxListeners(30)
      const { querystring, res: caller } = ctx
      const response = await page(visitor, { segment, querystring, origin, caller, posted })
      if (!('later' in response)) await send(ctx, visitor, response)
      else if (ctx.method !== 'GET' || !(await isLate(response.later)))
        await send(ctx, visitor, { ...(await response.later), ...(response.status && { status: response.status }) })
      else {
        if (response.status) ctx.status = response.status
        ctx.type = htmlType
        ctx.body = Readable.from(counted(ctx, inParts(ctx, visitor, response)))
      }
      setPrivate(ctx)
    },
    /** Answers with a page that is not in the list of routes. */
    show: (ctx: AppContext, page: Page): Promise<void> => send(ctx, visitorOf(identityOf(ctx)), page),
  }
}

export type Pages = ReturnType<typeof createPages>
