/** The page on which people sign in, and what its form and the button that ends a session send. */
import * as errors from '../contract/errors.js'
import { bodyLimit } from '../contract/rowBody.js'
import { signInPath, signOutPath } from '../explorer/links.js'
import { localPath, signInPage } from '../explorer/signIn.js'
import { readForm } from './formBody.js'
import type { Pages } from './pages.js'
import type { AppContext } from './requestLog.js'
import type { AddRoute } from './serviceParts.js'
import { isSameOrigin, type Sessions } from './sessions.js'

/** The page that a visitor comes from, if it is one of ours. */
const pageBefore = (ctx: AppContext): string | null => {
  const referrer = ctx.get('Referer')
  const { host, pathname, search } = new URL(URL.canParse(referrer) ? referrer : 'http://none')
  return host === ctx.get('Host') && pathname !== signInPath ? pathname + search : null
}

const keepPrivate = (ctx: AppContext): void => ctx.set('Cache-Control', 'private, no-store')

export const addSignIn = (pages: Pages, sessions: Sessions, add: AddRoute): void => {
  const showSignIn = async (ctx: AppContext, next: string, wrong = false): Promise<void> => {
    await pages.show(ctx, signInPage(next, wrong))
    keepPrivate(ctx)
    ctx.vary('Cookie')
  }
  add('exploreSignIn', signInPath, (ctx) =>
    showSignIn(ctx, localPath(new URLSearchParams(ctx.querystring).get('next') ?? pageBefore(ctx))),
  )
  const signIn = async (ctx: AppContext): Promise<void> => {
    if (ctx.get('Origin') !== '' && !isSameOrigin(ctx)) throw errors.forbidden()
    const { texts: form } = await readForm(ctx, bodyLimit)
    const next = localPath(form.get('next'))
    if (await sessions.start(ctx, (form.get('key') ?? '').trim())) {
      ctx.redirect(next)
      ctx.status = 303
      return keepPrivate(ctx)
    }
    await showSignIn(ctx, next, true)
    ctx.status = 401
  }
  add('exploreSignIn', signInPath, signIn, 'post')
  const signOut = (ctx: AppContext): void => {
    if (!isSameOrigin(ctx)) throw errors.forbidden()
    sessions.end(ctx)
    ctx.redirect('/')
    ctx.status = 303
  }
  add('exploreSignOut', signOutPath, signOut, 'post')
}
