/** The page on which people sign in. */
import { type Html, html } from './html.js'
import { homePath, signInPath } from './links.js'
import type { Page } from './page.js'

/** A path of this service, to return to; the home page if it is none. */
export const localPath = (given: string | null): string =>
  given !== null && /^\/(?:$|\?|explore(?:[/?]|$))/.test(given) && !/[\\\p{Cc}]/u.test(given) ? given : homePath

/** `wrong` if the key that was sent is not known. */
export const signInPage = (next: string, wrong = false): Page => {
  const issue: Html | false =
    wrong &&
    html`<p class="notice error" role="alert" id="issue-key">This key or token is not known, is wrong, or has expired.</p>`
  const main = html`<div class="title"><div><h1>Sign in</h1><p class="lead">With an API key, a token, or the write token of this service.</p></div></div>
    <form class="sign-in" method="post" action="${signInPath}">${issue}
    <input type="hidden" name="next" value="${next}">
    <div class="control"><label for="key">Key or token</label><input id="key" name="key" type="password" autocomplete="current-password" required autofocus aria-describedby="help-key ${wrong && 'issue-key'}"><p class="help" id="help-key">Your browser then keeps a cookie for up to eight hours, which is worth nothing elsewhere.</p></div>
    <p class="actions"><button class="primary">Sign in</button></p></form>`
  return { title: 'Sign in', crumbs: [{ title: 'Sign in' }], main }
}
