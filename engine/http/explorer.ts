/** Adds the explorer to the routes of a service: its pages, its files, sign-in, and the writes of its forms. */
import type { Operation } from '../contract/operations.js'
import { type Asset, assets, favicon } from '../explorer/assets.js'
import { pageRoutes } from '../explorer/index.js'
import { errorPage, renderPage } from '../explorer/layout.js'
import { changesUrl } from '../explorer/links.js'
import { followChanges } from './changes.js'
import { sendTagged, taggedBody } from './conditional.js'
import { pageHeaders } from './envelope.js'
import { addWrites } from './explorerWrites.js'
import { createPages } from './pages.js'
import type { AppContext } from './requestLog.js'
import type { AddRoute, Handler, Service } from './serviceParts.js'
import { createSessions, type Sessions } from './sessions.js'
import { addSignIn } from './signIn.js'

const explorerHeaders = {
  ...pageHeaders("img-src 'self'", "form-action 'self'"),
  // With no-referrer, browsers hide from us where a form comes from.
  'Referrer-Policy': 'same-origin',
}

/** The path of a file has the digest of its contents. */
const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' }

/** Serves a file, which is read once. */
export const assetHandler = ({ type, body }: Asset, headers: Record<string, string> = {}): Handler => {
  const tagged = taggedBody(body)
  return async (ctx) => {
    await sendTagged(ctx, tagged, type)
    ctx.set(headers)
  }
}

/** Adds the changes of each table, which its page asks for as the person who has signed in. */
const addChanges = (service: Service, sessions: Sessions, add: AddRoute): void => {
  const signInAgain = (ctx: AppContext): void => {
    const session = sessions.read(ctx)
    if (session) ctx.state.session = session
    else delete ctx.state.session
  }
  for (const resource of service.registry.filter(({ changes }) => changes)) {
    const follow = followChanges(service, { resource }, signInAgain)
    add('exploreChanges', changesUrl(resource), (ctx) => {
      delete ctx.state.errorHtml
      return follow(ctx)
    })
  }
}

/** Adds the routes of the explorer. Returns what prepares a request for it: errors become pages, also on paths without a route. */
export const addExplorer = (service: Service, operations: readonly Operation[], add: AddRoute) => {
  const sessions = createSessions(service)
  const pages = createPages(service, operations)
  const routes = pageRoutes(
    service.registry,
    operations.filter((one) => one.kind === 'own'),
  )
  // Before the rows, whose ids are never this word.
  addChanges(service, sessions, add)
  for (const route of routes) {
    const { name, path } = route
    add(name, path, (ctx) => pages.respond(ctx, route))
    // Addresses are typed and pasted with a slash at their end.
    if (!path.endsWith('/'))
      add(name, `${path}/`, (ctx) => {
        ctx.redirect(ctx.path.slice(0, -1) + ctx.search)
        pages.setPrivate(ctx)
      })
  }
  addSignIn(pages, sessions, add)
  addWrites(service, pages, sessions, operations, routes, add)
  for (const file of assets()) add('exploreAsset', file.path, assetHandler(file, immutable))
  add('exploreAsset', '/favicon.ico', assetHandler(favicon()))

  return (ctx: AppContext): void => {
    const session = sessions.read(ctx)
    if (session) {
      ctx.state.session = session
      ctx.state.caller = session.isService ? undefined : session.name
    }
    // A page of another site may not read what a visitor sees.
    for (const name of Object.keys(ctx.response.headers)) if (name.startsWith('access-control-')) ctx.remove(name)
    ctx.set(explorerHeaders)
    ctx.state.errorHtml = (error) => {
      const visitor = pages.visitorOf(ctx)
      return renderPage(visitor, errorPage(visitor, error, ctx.path))
    }
  }
}
