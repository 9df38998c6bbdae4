/** Where the forms of the explorer send what was typed: to the addresses of their pages. */

import * as errors from '../contract/errors.js'
import { batchWriters, deriveOperations, type ImportOperation, type Operation } from '../contract/operations.js'
import type { PageRoute } from '../explorer/index.js'
import { batchPath } from '../explorer/links.js'
import { batch } from './batch.js'
import { type FormHandler, formAnswerer } from './forms.js'
import { createImportForm } from './importForms.js'
import { createManyForm } from './manyForms.js'
import { createOperationForm } from './operationForms.js'
import type { Pages } from './pages.js'
import { createRestoreForm } from './restoreForms.js'
import { createRowForm, type RowForm } from './rowForms.js'
import type { AddRoute, Handler, Service } from './serviceParts.js'
import { isSameOrigin, type Sessions } from './sessions.js'

const rowForms: Readonly<Record<string, RowForm>> = {
  exploreCreate: 'create',
  exploreEdit: 'update',
  exploreDelete: 'delete',
}
const manyForms: Readonly<Record<string, 'update' | 'delete'>> = {
  exploreEditMany: 'update',
  exploreDeleteMany: 'delete',
}

export const addWrites = (
  service: Service,
  pages: Pages,
  sessions: Sessions,
  operations: readonly Operation[],
  routes: readonly PageRoute[],
  add: AddRoute,
): void => {
  const writers = batchWriters(service.registry, deriveOperations(service.registry))
  const answer = formAnswerer(service, pages, sessions)

  const formOf = ({ name, resource, operation }: PageRoute): FormHandler | undefined => {
    if (operation) return createOperationForm(service, operation)
    const writer = resource && writers.get(resource.path)
    if (!writer) return undefined
    const imported = operations.find(
      (one): one is ImportOperation => one.kind === 'import' && 'resource' in one && one.resource === resource,
    )
    if (name === 'exploreImport') return imported && createImportForm(service, imported)
    if (name === 'exploreRestore') return createRestoreForm(service, writer)
    const [kind, many] = [rowForms[name], manyForms[name]]
    if (kind) return createRowForm(service, writer, kind)
    return many && createManyForm(service, writer, many)
  }
  for (const route of routes) {
    const form = formOf(route)
    if (form) add('exploreWrite', route.path, (ctx) => answer(ctx, route, form), 'post')
  }

  // Whether or not the API has a batch: what was done to many rows is undone at once.
  const writeMany = batch(service, { writers })
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
