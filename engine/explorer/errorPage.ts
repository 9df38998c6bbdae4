/** The page of an error, with the same message as the API. */
import type { HttpError, Issue } from '../contract/errors.js'
import { html } from './html.js'
import type { Page } from './layout.js'
import { homePath } from './links.js'

const titles: Readonly<Record<number, string>> = {
  404: 'Not found',
  422: 'This address is not valid',
  503: 'Not available right now',
}

/** The messages of a body: those of its parameters, or that of its envelope. */
const messagesOf = ({ body, message }: HttpError): readonly string[] => {
  const { detail } = body as { detail?: readonly Issue[] }
  return detail ? detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}.`) : [message]
}

export const errorPage = (error: HttpError): Page => {
  const title = titles[error.status] ?? 'Something went wrong'
  const main = html`<div class="hero"><h1>${title}</h1>${messagesOf(error).map((message) => html`<p class="lead"><bdi>${message}</bdi></p>`)}
    <p><a class="button" href="${homePath}">Home</a></p></div>`
  return { title, crumbs: [{ title }], main, status: error.status }
}
