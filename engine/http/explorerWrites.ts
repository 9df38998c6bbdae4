/** Where the forms of the explorer send their writes: under the paths of its pages, for visitors who have signed in. */
import * as errors from '../contract/errors.js'
import { batchWriters, deriveOperations, type Operation, type ResourceOperation } from '../contract/operations.js'
import type { Route } from '../explorer/index.js'
import { batchPath, ownTarget, pageUrl, rowFolder } from '../explorer/links.js'
import { batch } from './batch.js'
import { withTags } from './batchTags.js'
import { createHandler, type RowOperation } from './handlers.js'
import type { Pages } from './pages.js'
import { formType, plainWriter } from './plainForms.js'
import type { AppContext } from './requestLog.js'
import type { AddRoute, Handler, Service } from './serviceParts.js'
import { isSameOrigin } from './sessions.js'

/** The path to which a form of the explorer sends an operation; undefined if none does. */
const formTarget = (operation: Operation): string | undefined => {
  if (operation.kind === 'own') return ownTarget(operation.own).replaceAll(/\{(\w+)\}/g, ':$1')
  const { kind, resource } = operation as ResourceOperation
  if (kind === 'create') return pageUrl(resource)
  if (kind === 'import') return pageUrl(resource, 'import')
  const isOfRow = kind === 'update' || kind === 'delete'
  return isOfRow ? pageUrl(resource, ...rowFolder(resource), ':item') : undefined
}

export const addWrites = (
  service: Service,
  operations: readonly Operation[],
  pages: Pages,
  routes: readonly Route[],
  add: AddRoute,
): void => {
  const writers = batchWriters(service.registry, deriveOperations(service.registry))
  const storePlain = plainWriter(service)
  const writePlain = async (ctx: AppContext, operation: RowOperation): Promise<void> => {
    const outcome = await storePlain(ctx, pages.visitorOf(ctx), operation)
    if ('form' in outcome) {
      const form = routes.find(({ path }) => path === outcome.form) as Route
      return pages.respond(ctx, form, outcome.typed)
    }
    ctx.redirect(outcome.next)
    ctx.status = 303
    pages.setPrivate(ctx)
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
      pages.setPrivate(ctx)
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
    pages.setPrivate(ctx)
  }
  add('exploreBatch', batchPath, handler, 'post')
}
