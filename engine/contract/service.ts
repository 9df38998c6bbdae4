/** The service's own description, and the path that its interface begins with. */

export interface Product {
  readonly name: string
  readonly about: string
  /** The version of the interface. */
  readonly version: string
  /** An SPDX identifier. */
  readonly license?: string
  readonly contact?: { readonly name: string; readonly url?: string; readonly email?: string }
  /** Whether clients with the write token may make several writes at once, at `/v1/batch`. */
  readonly batch?: boolean
  /** The default of DATABASE_URL, if it is not `sqlite:data/registry.sqlite`. */
  readonly database?: string
  /** The default of API_KEYS_FILE; the file need not exist before its first key. */
  readonly keysFile?: string
}

export const basePath = '/api'

export const docsPath = `${basePath}/docs`
