/** Serves the explorer's pages as each visitor may see them: sign-in, headers, compression, redirects, downloads and the writes of its forms. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { hasAccess } from '../contract/accessDocuments.js'
import * as errors from '../contract/errors.js'
import { batchWriters, deriveOperations, type Operation, type ResourceOperation } from '../contract/operations.js'
import { bodyLimit } from '../contract/rowBody.js'
import { type Identity, nobody } from '../descriptor/access.js'
import type { Asset } from '../explorer/assets.js'
import type { Typed } from '../explorer/controls.js'
import { createExplorer, type PageResponse, type Route } from '../explorer/index.js'
import type { LaterPage, Page } from '../explorer/layout.js'
import { batchPath, ownTarget, pageUrl, rowFolder, signInPath, signOutPath } from '../explorer/links.js'
import { localPath, signInPage } from '../explorer/signIn.js'
import { mayCall, seenBy } from '../explorer/visitor.js'
import { batch } from './batch.js'
import { withTags } from './batchTags.js'
import { readText } from './body.js'
import { permitFor } from './callers.js'
import { counted, sendTagged, taggedBody } from './conditional.js'
import { sendRows } from './download.js'
import { pageHeaders } from './envelope.js'
import { createHandler, type RowOperation } from './handlers.js'
import { formType, plainWriter } from './plainForms.js'
import type { AppContext } from './requestLog.js'
import type { Handler, Service } from './serviceParts.js'
import { createSessions, isSameOrigin } from './sessions.js'

const explorerHeaders = {
  ...pageHeaders("img-src 'self'", "form-action 'self'"),
  // With no-referrer, browsers hide from us where a form comes from.
  'Referrer-Policy': 'same-origin',
}

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

type AddRoute = (name: string, path: string, handler: Handler, method?: Operation['route']['method']) => void

/** The explorer as one visitor sees it. */
const explorerOf = (service: Service, operations: readonly Operation[], visitor: Identity) => {
  const { product, registry, storage, callers } = service
  const { rights } = permitFor(visitor)
  const canSignIn = callers.hasOthers || hasAccess(registry)
  // Without rules everybody sees the same.
  const isPlain = visitor === nobody && !hasAccess(registry)
  const seen = isPlain ? { registry, storage, original: undefined } : seenBy(registry, storage, rights, visitor)
  const explorer = createExplorer({
    product,
    registry: seen.registry,
    storage: seen.storage,
    operations: operations.filter((one) => one.kind !== 'own' || mayCall(one.own, visitor)),
    writes: callers.isConfigured,
    canSignIn,
    visitor: visitor.name,
  })
  const routes = new Map(explorer.routes.map((route) => [route.path, route]))
  const render = (page: Page): string => explorer.start(page.title) + explorer.rest(page)
  const send = async (ctx: AppContext, response: PageResponse): Promise<void> => {
    if ('redirect' in response) return ctx.redirect(response.redirect)
    if ('format' in response) {
      const resource = seen.original?.(response.resource) ?? response.resource
      return sendRows(ctx, service, resource, response.query, response.format, rights, response.columns)
    }
    if ('file' in response) {
      ctx.set('Content-Disposition', `attachment; filename="${response.file}"`)
      return sendTagged(ctx, taggedBody(Buffer.from(response.text)), response.type)
    }
    const html = 'main' in response ? render(response) : response.source
    await sendTagged(ctx, taggedBody(Buffer.from(html)), htmlType)
    if ('status' in response && response.status && ctx.status === 200) ctx.status = response.status
  }
  /** The page of a slow query: its start is sent at once. What fails afterwards is shown in it. */
  async function* inParts(ctx: AppContext, { title, later }: LaterPage): AsyncGenerator<Uint8Array> {
    yield Buffer.from(explorer.start(title))
    const page = await later.catch((error) =>
      explorer.errorPage(ctx.state.failed?.(error) ?? errors.internalError(), `${ctx.path}/`),
    )
    yield Buffer.from(explorer.rest(page))
  }
  return {
    render,
    errorPage: explorer.errorPage,
    /** Shows a form again, with what was typed and what is wrong with it. */
    async showAgain(ctx: AppContext, path: string, segment: string, typed: Typed): Promise<void> {
      const origin = `${ctx.protocol}://${ctx.host}`
      const form = await routes.get(path)?.respond({ segment, querystring: '', origin, caller: ctx.res, typed })
      if (form && 'main' in form) await send(ctx, { ...form, status: 422 })
    },
    async respond(ctx: AppContext, { path }: Route): Promise<void> {
      const route = routes.get(path)
      if (!route) throw visitor === nobody ? errors.callerMissing() : errors.forbidden()
      const segment = ctx.path.split('/')[path.split('/').indexOf(':item')] ?? ''
      const origin = `${ctx.protocol}://${ctx.host}`
      // A page has several reads, each of which waits for its client to leave.
      ctx.res.setMaxListeners(30)
      const response = await route.respond({ segment, querystring: ctx.querystring, origin, caller: ctx.res })
      if (!('later' in response)) return send(ctx, response)
      const { later, status } = response
      if (ctx.method !== 'GET' || !(await isLate(later)))
        return send(ctx, { ...(await later), ...(status && { status }) })
      if (status) ctx.status = status
      ctx.type = htmlType
      ctx.body = Readable.from(counted(ctx, inParts(ctx, response)))
    },
  }
}

/** The page that a visitor comes from, if it is one of ours. */
const pageBefore = (ctx: AppContext): string | null => {
  const referrer = ctx.get('Referer')
  const { host, pathname, search } = new URL(URL.canParse(referrer) ? referrer : 'http://none')
  return host === ctx.get('Host') && pathname !== signInPath ? pathname + search : null
}

/** The path to which a form of the explorer sends an operation; undefined if none does. */
const formTarget = (operation: Operation): string | undefined => {
  if (operation.kind === 'own') return ownTarget(operation.own).replaceAll(/\{(\w+)\}/g, ':$1')
  const { kind, resource } = operation as ResourceOperation
  if (kind === 'create') return pageUrl(resource)
  if (kind === 'import') return pageUrl(resource, 'import')
  const isOfRow = kind === 'update' || kind === 'delete'
  return isOfRow ? pageUrl(resource, ...rowFolder(resource), ':item') : undefined
}

/** Adds the routes of the explorer. Returns what prepares a request for it: errors become pages, also on paths without a route. */
export const addExplorer = (service: Service, operations: readonly Operation[], add: AddRoute) => {
  const sessions = createSessions(service)
  const explorers = new WeakMap<Identity, ReturnType<typeof explorerOf>>()
  const explorerFor = (visitor: Identity) => {
    const known = explorers.get(visitor) ?? explorerOf(service, operations, visitor)
    explorers.set(visitor, known)
    return known
  }
  const isGuarded = hasAccess(service.registry)
  const visitorOf = (ctx: AppContext): Identity => ctx.state.session ?? nobody
  const prepare = (ctx: AppContext): void => {
    const session = sessions.read(ctx)
    if (session) {
      ctx.state.session = session
      ctx.state.caller = session.isService ? undefined : session.name
    }
    // A page of another site may not read what a visitor sees.
    for (const name of Object.keys(ctx.response.headers)) if (name.startsWith('access-control-')) ctx.remove(name)
    ctx.set(explorerHeaders)
    ctx.state.errorHtml = (error) => {
      const { render, errorPage } = explorerFor(visitorOf(ctx))
      return render(errorPage(error, `${ctx.path}/`))
    }
  }
  /** What a visitor sees stays in its browser. */
  const setPrivate = (ctx: AppContext): void => {
    if (!ctx.state.session && !isGuarded) return
    if (ctx.state.session) ctx.set('Cache-Control', 'private, no-store')
    ctx.vary('Cookie')
  }
  const page =
    (route: Route): Handler =>
    async (ctx) => {
      await explorerFor(visitorOf(ctx)).respond(ctx, route)
      setPrivate(ctx)
    }
  const { routes, assets, favicon } = createExplorer({
    ...service,
    operations,
    writes: true,
    canSignIn: true,
  })
  for (const route of routes) {
    add(route.name, route.path, page(route))
    // Addresses are typed and pasted with a slash at their end.
    if (!route.path.endsWith('/'))
      add(route.name, `${route.path}/`, (ctx) => {
        ctx.redirect(ctx.path.slice(0, -1) + ctx.search)
        setPrivate(ctx)
      })
  }

  const showSignIn = async (ctx: AppContext, next: string, wrong = false): Promise<void> => {
    const { render } = explorerFor(visitorOf(ctx))
    await sendTagged(ctx, taggedBody(Buffer.from(render(signInPage(next, wrong)))), htmlType)
    ctx.set('Cache-Control', 'private, no-store')
    ctx.vary('Cookie')
  }
  add('exploreSignIn', signInPath, (ctx) =>
    showSignIn(ctx, localPath(new URLSearchParams(ctx.querystring).get('next') ?? pageBefore(ctx))),
  )
  add(
    'exploreSignIn',
    signInPath,
    async (ctx) => {
      if (ctx.get('Origin') !== '' && !isSameOrigin(ctx)) throw errors.forbidden()
      const form = new URLSearchParams(await readText(ctx, [formType], bodyLimit))
      const next = localPath(form.get('next'))
      if (await sessions.start(ctx, (form.get('key') ?? '').trim())) {
        ctx.redirect(next)
        ctx.status = 303
        ctx.set('Cache-Control', 'private, no-store')
        return
      }
      await showSignIn(ctx, next, true)
      ctx.status = 401
    },
    'post',
  )
  add(
    'exploreSignOut',
    signOutPath,
    (ctx) => {
      if (!isSameOrigin(ctx)) throw errors.forbidden()
      sessions.end(ctx)
      ctx.redirect('/')
      ctx.status = 303
    },
    'post',
  )

  const writers = batchWriters(service.registry, deriveOperations(service.registry))
  const storePlain = plainWriter(service)
  const writePlain = async (ctx: AppContext, operation: RowOperation): Promise<void> => {
    const outcome = await storePlain(ctx, operation)
    if ('form' in outcome)
      await explorerFor(visitorOf(ctx)).showAgain(ctx, outcome.form, outcome.segment, outcome.typed)
    else {
      ctx.redirect(outcome.next)
      ctx.status = 303
    }
    setPrivate(ctx)
  }
  for (const operation of operations) {
    const path = formTarget(operation)
    if (path === undefined) continue
    const write = createHandler(service, operation)
    const handler: Handler = async (ctx) => {
      if (operation.kind === 'create' && ctx.is(formType)) return writePlain(ctx, operation as RowOperation)
      // The script of a form reads JSON.
      delete ctx.state.errorHtml
      ctx.state.isPrivate = true
      if (!ctx.state.session) throw errors.callerMissing()
      // A browser names no origin when a page of the same one reads.
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD' && !isSameOrigin(ctx)) throw errors.forbidden()
      await write(ctx)
      setPrivate(ctx)
    }
    add('exploreWrite', path, handler, operation.route.method)
    const page = { update: 'edit', delete: 'delete' }[operation.kind as string]
    if (page) add('exploreWrite', `${path}/${page}`, (ctx) => writePlain(ctx, operation as RowOperation), 'post')
  }
  // Whether or not the API has a batch: many rows are changed all or none.
  const writeMany = batch(service, { writers }, withTags)
  const handler: Handler = async (ctx) => {
    delete ctx.state.errorHtml
    ctx.state.isPrivate = true
    // A token in a header is sent on purpose; a cookie is not.
    if (ctx.state.session && !isSameOrigin(ctx)) throw errors.forbidden()
    await writeMany(ctx)
    setPrivate(ctx)
  }
  add('exploreBatch', batchPath, handler, 'post')
  for (const file of assets) add('exploreAsset', file.path, assetHandler(file, immutable))
  add('exploreAsset', favicon.path, assetHandler(favicon))
  return prepare
}
