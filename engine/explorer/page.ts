/** What a page is: a function of a visitor and a request. */
import type { FormatName } from '../contract/formats.js'
import type { CustomOperation, Operation } from '../contract/operations.js'
import type { Product } from '../contract/service.js'
import type { Selection } from '../descriptor/listQuery.js'
import type { Registry, Resource, RowId } from '../descriptor/registry.js'
import type { Caller, History, HistoryQuery, Storage } from '../storage/storage.js'
import type { Posted } from './controlTexts.js'
import type { Html } from './html.js'

/** Whom a page is for, and the service as that person may use it. */
export interface Visitor {
  /** Undefined if nobody has signed in. */
  readonly name: string | undefined
  readonly product: Product
  /** The resources without what is hidden, and what may be done with them. */
  readonly registry: Registry
  readonly storage: Storage
  /** The history of a row, as this person may read it. */
  readonly history: (resource: Resource, id: RowId, page: Omit<HistoryQuery, 'rights'>) => Promise<History | undefined>
  readonly operations: readonly Operation[]
  /** Whether the service takes writes, whoever sends them. */
  readonly writes: boolean
  readonly canSignIn: boolean
  /** Where the changes of a resource begin that follow what is read now. */
  readonly cursor: (resource: Resource) => Promise<string | undefined>
}

export interface PageRequest {
  /** The segment of the path that names a row, as it was sent. */
  readonly segment: string
  readonly querystring: string
  /** The address of the service as the client sees it, for the requests that pages show. */
  readonly origin: string
  /** Whether the client has gone, as it does with every key that is typed. */
  readonly caller: Caller
  /** What a form has sent, if it is shown again. */
  readonly posted?: Posted | undefined
}

/** A request for a page of a resource, which is given as the visitor sees it. */
export interface ResourceRequest extends PageRequest {
  readonly resource: Resource
}

export interface OperationPageRequest extends PageRequest {
  readonly operation: CustomOperation
}

export interface Crumb {
  readonly title: string
  /** The last crumb has none: it is the page itself. */
  readonly url?: string
}

export interface Page {
  readonly title: string
  /** The way to it from the home page, which itself has none. */
  readonly crumbs: readonly Crumb[]
  readonly main: Html
  /** The element that the keyboard may skip to; by default the whole content. */
  readonly skip?: 'results'
  /** By default 200. */
  readonly status?: number
}

export interface Redirect {
  readonly redirect: string
}

/** The rows of a query as a file. */
export interface Download {
  readonly resource: Resource
  readonly query: Selection
  readonly format: FormatName
  /** The names of the columns; by default all fields. */
  readonly columns?: readonly string[] | undefined
}

/** A file that is made for a request. */
export interface TextFile {
  readonly file: string
  readonly type: string
  readonly text: string
}

/** A page whose rows take their time; its start needs none. */
export interface LaterPage {
  readonly title: string
  readonly status?: number
  readonly later: Promise<Page>
}

/** What a request is answered with; HTML alone is a part of a page, which a script asks for. */
export type PageResponse = Page | Redirect | Html | Download | TextFile | LaterPage

export type PageFunction<Request extends PageRequest = PageRequest> = (
  visitor: Visitor,
  request: Request,
) => PageResponse | Promise<PageResponse>
