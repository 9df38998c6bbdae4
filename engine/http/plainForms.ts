/** Stores what a form of the explorer has sent without its script. */
import * as errors from '../contract/errors.js'
import { bodyLimit } from '../contract/rowBody.js'
import { isAllowed } from '../descriptor/access.js'
import type { Typed } from '../explorer/controls.js'
import { pageUrl, rowFolder, rowUrl } from '../explorer/links.js'
import type { Visitor } from '../explorer/page.js'
import { plainFormBody } from '../explorer/plainForms.js'
import { findRow } from '../explorer/rows.js'
import { inTitles } from '../explorer/ruleWords.js'
import { readText } from './body.js'
import { permitFor } from './callers.js'
import type { RowOperation } from './handlers.js'
import type { AppContext } from './requestLog.js'
import type { Service } from './serviceParts.js'
import { isSameOrigin } from './sessions.js'
import { findChangeable, makeWrite } from './write.js'
import type { SentWrite } from './writePlan.js'

export const formType = 'application/x-www-form-urlencoded'

/** The page that follows; or the form again, by the path of its route, with what was typed. */
type PlainOutcome = { readonly next: string } | { readonly form: string; readonly typed: Typed }

/** What is wrong with a body, if an error says so. */
const issuesIn = ({ body }: errors.HttpError): readonly errors.Issue[] | undefined =>
  (body as { error?: { details?: { issues?: readonly errors.Issue[] } } }).error?.details?.issues

export const plainWriter =
  (service: Service) =>
  async (
    ctx: AppContext,
    visitor: Visitor,
    { kind: access, resource, route, readBody }: RowOperation,
  ): Promise<PlainOutcome> => {
    const { session } = ctx.state
    if (!session) throw errors.callerMissing()
    if (!isSameOrigin(ctx)) throw errors.forbidden()
    const { rights } = permitFor(session)
    if (!isAllowed(rights.of(resource)[access])) throw errors.forbidden()
    const sent = new URLSearchParams(await readText(ctx, [formType], bodyLimit))
    const own = visitor.registry.find(({ path }) => path === resource.path)
    if (!own) throw errors.forbidden()
    const segment = ctx.path.split('/')[pageUrl(resource, ...rowFolder(resource), '').split('/').length - 1] ?? ''
    const row = access === 'create' ? undefined : await findRow(visitor.storage, own, segment)
    const id = row?.id
    const tag = new URLSearchParams(ctx.querystring).get('tag') ?? undefined
    const ifMatch = tag && row ? [tag] : undefined
    const current =
      access === 'create' || id === undefined
        ? undefined
        : await findChangeable(service.storage, rights, resource, access, { id, ifMatch })
    try {
      const source = access === 'delete' ? '' : await plainFormBody(visitor, own, sent, row?.row)
      const body = source === '' ? undefined : JSON.parse(source)
      const method = route.method.toUpperCase() as SentWrite['method']
      const write = { method, resource, readBody, id, ifMatch, body, source }
      const stored = await makeWrite(service, write, { rights }, current)
      return { next: access === 'delete' ? pageUrl(resource) : rowUrl(resource, String(stored.id)) }
    } catch (error) {
      const issues = error instanceof errors.HttpError && access !== 'delete' ? issuesIn(error) : undefined
      if (!issues) throw error
      const found = issues.map(({ loc, msg }) => ({
        field: String(loc.at(-1)),
        message: inTitles(visitor.registry, own, msg),
      }))
      const form = row ? [...rowFolder(resource), ':item', 'edit'] : ['new']
      return { form: pageUrl(resource, ...form), typed: { sent, issues: found, tag } }
    }
  }
