/** The page on which people sign in. */
import { type Html, html, type Part } from './html.js'
import { homePath, signInPath } from './links.js'
import type { Page } from './page.js'

/** A path of this service, to return to; the home page if it is none. */
export const localPath = (path: string | null): string =>
  path !== null && /^\/(?:$|\?|explore(?:[/?]|$))/.test(path) && !/[\\\p{Cc}]/u.test(path) ? path : homePath

const unknownKey = html`<p class="notice error" role="alert" id="issue-key">This key or token is not known, is wrong, or has expired.</p>`

/** `isWrong` if the key that was sent is not known. */
const renderSignIn = (lead: string, action: string, name: string, hidden: Part, isWrong: boolean): Page => {
  const main = html`<div class="title"><div><h1>Sign in</h1><p class="lead">${lead}</p></div></div>
    <form class="sign-in" method="post" action="${action}">${isWrong && unknownKey}
    <div class="form-error notice error" role="alert" tabindex="-1" hidden></div>
    <div class="control"><label for="key">Key or token</label><input id="key" name="${name}" type="password" autocomplete="current-password" required autofocus aria-describedby="help-key ${isWrong && 'issue-key'}"><p class="help" id="help-key">Your browser then keeps a cookie for up to eight hours, which is worth nothing elsewhere.</p></div>
    <p class="actions"><button class="submit primary">Sign in</button></p>${hidden}</form>`
  return { title: 'Sign in', crumbs: [{ title: 'Sign in' }], main }
}

const hiddenInput = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`

export const signInPage = (next: string, isWrong = false): Page => {
  const lead = 'With an API key, a token, or the write token of this service.'
  return renderSignIn(lead, signInPath, 'key', hiddenInput('next', next), isWrong)
}

/** The name of the key in a form that is sent again with what was typed. */
export const keyName = 'form.secret'

/** Signs in whose session has ended while a form was open; the form is there again afterwards, with what was typed. */
export const signInAgainPage = (action: string, texts: URLSearchParams, isWrong: boolean): Page => {
  const hidden = [...texts].filter(([name]) => name !== keyName && name !== 'form.script')
  const lead = 'You are signed out. Sign in again: what you have typed is kept.'
  const inputs = hidden.map(([name, value]) => hiddenInput(name, value))
  return { ...renderSignIn(lead, action, keyName, inputs, isWrong), status: 401 }
}
