/** The page of a row: every field, the rows it references, and the rows that reference it. */
import { rowNotFound } from '../contract/errors.js'
import { itemIdParser, itemIdSchema } from '../contract/parameters.js'
import { wholeTable } from '../descriptor/listQuery.js'
import type { Field, Registry, Resource, RowValues } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { withFilter } from './filters.js'
import { type Html, html } from './html.js'
import { labelOf, readLabels } from './labels.js'
import type { ExplorerService, Page } from './layout.js'
import { apiRowUrl, rowUrl, tableUrl } from './links.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'
import { eachRow } from './rows.js'
import { fullValue } from './values.js'

interface Referrer {
  readonly resource: Resource
  readonly field: Field
}

const referrersOf = (registry: Registry, { path }: Resource): Referrer[] =>
  registry.flatMap((resource) =>
    resource.fields.filter(({ references }) => references === path).map((field) => ({ resource, field })),
  )

/** How many rows reference a row by a field; only fields with a filter are counted, because only they have an index. */
const referrer = async (storage: Storage, { resource, field }: Referrer, id: number): Promise<Html> => {
  const title = html`${resource.plural} <span class="note">by ${field.name}</span>`
  if (!field.filter)
    return html`<li><span>${title}</span> <span class="note" title="Only filters are counted">not counted</span></li>`
  const query = withFilter(wholeTable, field.name, BigInt(id))
  const page = await storage.table(resource).list({ ...query, page: { limit: 1, offset: 0n } })
  const total = await eachRow(page, () => {})
  return html`<li><a href="${tableUrl(resource, query)}">${title}</a> <span class="figure">${total.toLocaleString('en')}</span></li>`
}

/** Makes the page of a resource's rows. */
export const rowPage = ({ registry, storage }: ExplorerService, resource: Resource, find: FindOperation) => {
  const parseId = itemIdParser(itemIdSchema('', ''))
  const referrers = referrersOf(registry, resource)
  return async (segment: string, origin: string): Promise<Page> => {
    const { id, text } = parseId(segment)
    const found = id === undefined ? undefined : await storage.table(resource).get(id)
    if (id === undefined || !found) throw rowNotFound(resource.name, text)
    const row = JSON.parse(String(found.body)) as RowValues
    const labels = await readLabels(storage, registry, resource.fields, ({ name }) => [row[name]])
    const shown = { registry, labels, url: rowUrl(resource, id) }
    const fields = resource.fields.map(
      (
        field,
      ) => html`<div class="field"><dt><span class="field-name">${field.name}</span>${field.about && html`<span class="note">${field.about}</span>`}</dt>
        <dd>${fullValue(field, row[field.name] ?? null, shown)}</dd></div>`,
    )
    const links = await Promise.all(referrers.map((one) => referrer(storage, one, id)))
    const label = labelOf(resource, row)
    const url = apiRowUrl(resource, id)
    const main = html`<div class="title"><div><h1><bdi>${label}</bdi></h1><p class="lead">${resource.name} #${id}</p></div></div>
      <div class="row-columns"><dl class="fields">${fields}</dl>
      <div class="beside">${links.length > 0 && html`<section class="referrers" aria-labelledby="referrers-title"><h2 id="referrers-title">Referred to by</h2><ul class="plain-list">${links}</ul></section>`}
      ${requestPanel(`curl ${shellWord(`${origin}${url}`)}`, find('get', resource), url)}</div></div>`
    const crumbs = [{ title: resource.plural, url: tableUrl(resource) }, { title: label }]
    return { title: `${label} · ${resource.plural}`, crumbs, main }
  }
}
