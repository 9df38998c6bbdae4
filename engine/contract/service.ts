/** What the service calls itself, and where its interface begins. */

/** The same in the documents, the index and the health check. */
export interface Product {
  readonly name: string
  readonly about: string
  /** The version of the interface. */
  readonly version: string
  readonly license: string
}

/** Where every path of the interface begins. */
export const basePath = '/api'
