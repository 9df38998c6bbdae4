/** Finds anything by its name: tables, operations and other pages, and a few rows of each table that the visitor may read. */
import { queryParameters } from '../contract/parameters.js'
import { docsPath } from '../contract/service.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { type Resource, searchedFields } from '../descriptor/registry.js'
import type { Caller } from '../storage/storage.js'
import { type Choices, rank, readChoices } from './choices.js'
import { inTime } from './counts.js'
import { grouped } from './format.js'
import { type Html, html } from './html.js'
import { findUrl, homePath, operationFormUrl, pageUrl, rowUrl, signInPath, tableUrl } from './links.js'
import { titleOf } from './names.js'
import { sendableOperations } from './ownOperations.js'
import type { Page, PageRequest, Visitor } from './page.js'

interface PageLink {
  readonly title: string
  readonly url: string
  readonly note: string
}

/** How many pages and rows of a table are shown, and how many tables are searched at the same time. */
const [maxPages, maxRows, atOnce] = [8, 4, 3]

/** How long the search of a table may take, in milliseconds; a text of fewer characters than that searches none. */
const [timeoutMs, minLength] = [10_000, 2]

const pagesOf = (visitor: Visitor): { readonly main: PageLink[]; readonly others: PageLink[] } => {
  const { registry, writes, canSignIn, name } = visitor
  const forms = (resource: Resource): PageLink[] => [
    ...(resource.create
      ? [{ title: `New ${resource.name.toLowerCase()}`, url: pageUrl(resource, 'new'), note: 'form' }]
      : []),
    ...(resource.import
      ? [{ title: `Import ${resource.plural.toLowerCase()}`, url: pageUrl(resource, 'import'), note: 'form' }]
      : []),
  ]
  return {
    main: [
      ...registry.map((resource) => ({ title: resource.plural, url: pageUrl(resource), note: 'table' })),
      ...sendableOperations(visitor).map((operation) => ({
        title: titleOf(operation.name),
        url: operationFormUrl(operation),
        note: 'operation',
      })),
    ],
    others: [
      ...(writes ? registry.flatMap(forms) : []),
      { title: 'Home', url: homePath, note: 'page' },
      { title: 'API docs', url: docsPath, note: 'page' },
      ...(canSignIn && name === undefined ? [{ title: 'Sign in', url: signInPath, note: 'page' }] : []),
    ],
  }
}

interface TableMatches {
  readonly resource: Resource
  /** Undefined if the search took too long. */
  readonly rows: Choices | undefined
}

/** The rows of all tables that a text finds, those first whose labels have it. */
const findRows = async ({ registry, storage }: Visitor, q: string, caller: Caller): Promise<TableMatches[]> => {
  const waiting = registry.filter((resource) => searchedFields(resource).length > 0)
  const matches: TableMatches[] = []
  const searchNext = async (): Promise<void> => {
    const resource = waiting.shift()
    if (!resource || caller.closed) return
    const rows = await inTime(caller, timeoutMs, (client) => readChoices(storage, resource, q, maxRows, client))
    matches.push({ resource, rows })
    return searchNext()
  }
  await Promise.all(Array.from({ length: atOnce }, searchNext))
  const best = ({ rows }: TableMatches) => Math.min(3, ...(rows?.choices ?? []).map((row) => rank(row, q)))
  const place = ({ resource }: TableMatches) => registry.indexOf(resource)
  return matches.sort((a, b) => best(a) - best(b) || place(a) - place(b))
}

const item = (url: string, title: string, note: string): Html =>
  html`<li><a href="${url}"><bdi>${title}</bdi> <span class="note">${note}</span></a></li>`

export const findPage = async (visitor: Visitor, { querystring, caller }: PageRequest): Promise<Page> => {
  const { main, others } = pagesOf(visitor)
  const q = (queryParameters(querystring).get('q') ?? '').trim()
  const words = q.toLowerCase().split(/\s+/)
  const isNamed = ({ title }: PageLink) => words.every((word) => title.toLowerCase().includes(word))
  const matching = q === '' ? main : [...main, ...others].filter(isNamed)
  const pages = q === '' ? matching : matching.slice(0, maxPages)
  const matches = [...q].length < minLength ? [] : await findRows(visitor, q, caller)
  const tables = matches.flatMap(({ resource, rows }) => {
    if (rows?.choices.length === 0) return []
    const allUrl = tableUrl(resource, { ...defaultListQuery, search: q })
    const items = rows?.choices.map(({ id, label }) => item(rowUrl(resource, id), label, `#${id}`))
    const link = rows ? `${grouped(rows.matches)} ${rows.matches === 1 ? 'match' : 'matches'}` : 'Search'
    const more = html`<li><a href="${allUrl}">${link} in ${resource.plural.toLowerCase()}${!rows && html` <span class="note">took too long</span>`}</a></li>`
    return [html`<section><h2>${resource.plural}</h2><ul>${items}${rows?.matches !== 0 && more}</ul></section>`]
  })
  const hiddenCount = matching.length - pages.length
  const listed = html`${pages.length > 0 && html`<section><h2>Pages</h2><ul>${pages.map(({ url, title, note }) => item(url, title, note))}${hiddenCount > 0 && html`<li class="note">and ${grouped(hiddenCount)} more</li>`}</ul></section>`}${tables}`
  const sizes = matches.map(({ rows }) => (rows ? rows.matches + Number(rows.isTypedOnly) : 0))
  const total = grouped(sizes.reduce((sum, size) => sum + size, matching.length))
  const isPart = matches.some(({ rows }) => rows === undefined)
  const count = html`<p class="note" id="found-count">${isPart ? `At least ${total} found: a search took too long` : `${total} found`}</p>`
  const isEmpty = pages.length + tables.length === 0
  const results = html`<div class="found" id="found">${isEmpty ? html`<p class="note">Nothing is called “<bdi>${q}</bdi>”.</p>` : listed}</div>`
  const form = html`<form class="search" role="search" action="${findUrl}" data-navigate><input class="find-box" type="search" name="q" value="${q}" aria-label="Find anything" placeholder="Find anything" autocomplete="off" spellcheck="false" autofocus><button>Find</button></form>`
  const title = 'Find anything'
  return {
    title,
    crumbs: [{ title }],
    main: html`<div class="title"><h1>${title}</h1></div>${form}${results}${count}`,
  }
}
