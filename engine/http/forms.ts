/** Answers the forms of the explorer: leads on when what they send is stored, and otherwise shows them again with what is wrong. */
import { createHash } from 'node:crypto'
import * as errors from '../contract/errors.js'
import { invalidKeyIssue } from '../contract/headers.js'
import { bodyLimit, formLimit } from '../contract/rowBody.js'
import type { Posted } from '../explorer/controlTexts.js'
import { type Done, renderDone } from '../explorer/done.js'
import type { PageRoute } from '../explorer/index.js'
import type { Visitor } from '../explorer/page.js'
import { keyName, signInAgainPage } from '../explorer/signIn.js'
import { nextTurn } from '../process/batchPerTick.js'
import type { IdempotencyKey } from '../storage/writeData.js'
import { ownKey } from './body.js'
import { type Permit, permitFor } from './callers.js'
import { type FormBody, readForm } from './formBody.js'
import type { Pages } from './pages.js'
import type { AppContext } from './requestLog.js'
import type { Service } from './serviceParts.js'
import { isSameOrigin, type Sessions } from './sessions.js'

/** What a form has sent, and who has sent it. */
export interface FormRequest {
  readonly ctx: AppContext
  readonly visitor: Visitor
  readonly permit: Permit
  /** The segment of the path that names a row. */
  readonly segment: string
  readonly body: FormBody
  readonly posted: Posted
  readonly idempotencyKey: IdempotencyKey | undefined
}

export interface FormHandler {
  /** Whether nobody needs to sign in. */
  readonly isPublic?: boolean
  /** The most bytes of what it sends. */
  readonly limit?: number
  /** The most characters of what is typed, rows apart; by default as many as a row may have. */
  readonly typedLimit?: number
  /** Whether somebody may send the form at all; decided before anything is read. */
  readonly isAllowed: (permit: Permit) => boolean
  /** Stores what was sent. Resolves with what was done, or with the form as it is shown again. */
  readonly store: (request: FormRequest) => Promise<Done | Posted>
  /** What the form says about an error. */
  readonly explain: (request: FormRequest, error: errors.HttpError) => Posted | Promise<Posted>
}

/** What is wrong with a body, if an error says so. */
export const issuesIn = ({ body }: errors.HttpError): readonly errors.Issue[] =>
  (body as { error?: { details?: { issues?: readonly errors.Issue[] } } }).error?.details?.issues ?? []

/** The key under which a form is stored once, with everything that it has sent. */
const keyIn = (ctx: AppContext, { caller }: Permit, { texts, files }: FormBody): IdempotencyKey | undefined => {
  const key = texts.get('form.key')
  if (key === null) return undefined
  const issue = invalidKeyIssue(key)
  if (issue) throw errors.bodyInvalid([issue])
  const digest = createHash('sha256').update(`${ctx.method} ${ctx.path}${ctx.search}`)
  for (const [name, text] of texts) if (name !== 'form.script') digest.update(`\n${name}=${text}`)
  for (const file of files.values()) digest.update('\n').update(file)
  return { key: ownKey(key, caller), digest: digest.digest('hex') }
}

/** How many characters a form has, apart from rows: those that were opened or selected, and those that were pasted into a form with files. */
const typedLength = (texts: URLSearchParams, hasFiles: boolean): number => {
  const ofRows = ['form.opened', 'form.rows', ...(hasFiles ? ['text'] : [])]
  return [...texts].reduce(
    (length, [name, text]) => length + name.length + (ofRows.includes(name) ? 0 : text.length),
    0,
  )
}

export const formAnswerer = ({ callers }: Service, pages: Pages, sessions: Sessions) => {
  /** Asks to sign in again, and keeps what was typed. */
  const showSignIn = async (ctx: AppContext, texts: URLSearchParams, isWrong: boolean): Promise<void> => {
    await pages.show(ctx, signInAgainPage(ctx.path + ctx.search, texts, isWrong))
    ctx.set('Cache-Control', 'private, no-store')
  }

  const leadOn = async (ctx: AppContext, texts: URLSearchParams, done: Done): Promise<void> => {
    ctx.state.usedDatabase = true
    if (texts.has('form.script')) {
      ctx.type = 'text/html; charset=utf-8'
      ctx.body = renderDone(done).source
    } else {
      ctx.redirect(done.next)
      ctx.status = 303
    }
    pages.setPrivate(ctx)
  }

  return async (ctx: AppContext, route: PageRoute, form: FormHandler): Promise<void> => {
    if (!form.isPublic && !callers.isConfigured) throw errors.writesDisabled()
    if (!isSameOrigin(ctx)) throw errors.forbidden()
    const check = (): Permit => {
      const permit = permitFor(pages.identityOf(ctx))
      if (!form.isAllowed(permit)) throw errors.forbidden()
      return permit
    }
    const isKnown = ctx.state.session !== undefined || form.isPublic === true
    if (isKnown) check()
    const body = await readForm(ctx, ctx.state.session ? (form.limit ?? formLimit) : bodyLimit)
    await nextTurn()
    const { texts } = body
    const typedLimit = form.typedLimit ?? bodyLimit
    if (typedLength(texts, form.limit !== undefined) > typedLimit) throw errors.payloadTooLarge(typedLimit)
    const posted: Posted = { texts, status: 200, issues: [] }
    if (!isKnown) {
      const secret = texts.get(keyName)
      const identity = secret === null ? undefined : await sessions.start(ctx, secret.trim())
      if (!identity) return showSignIn(ctx, texts, secret !== null)
      ctx.state.session = identity
      check()
      return pages.respond(ctx, route, posted)
    }
    if (texts.has('form.show')) return pages.respond(ctx, route, posted)
    const permit = check()
    const segment = ctx.path.split('/')[route.path.split('/').indexOf(':item')] ?? ''
    const request = { ctx, visitor: pages.visitorOf(ctx), permit, segment, body, posted, idempotencyKey: undefined }
    try {
      const idempotencyKey = keyIn(ctx, permit, body)
      await nextTurn()
      const answer = await form.store({ ...request, idempotencyKey })
      if ('next' in answer) return await leadOn(ctx, texts, answer)
      await pages.respond(ctx, route, answer)
    } catch (error) {
      const failed = ctx.state.failed?.(error) ?? errors.internalError()
      await pages.respond(ctx, route, await form.explain(request, failed))
    }
  }
}

export type AnswerForm = ReturnType<typeof formAnswerer>
