/** The programs that people write with a generated client: a list, a get, a create, a 422 and a 404 of one resource. */

export interface Target {
  /** The base URL of the service. */
  readonly api: string
  readonly token: string
  /** The path of the list in the document. */
  readonly path: string
  /** The ids of the operations. */
  readonly operations: { readonly list: string; readonly get: string; readonly create: string }
  readonly body: object
}

const expect = `const expect = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(\`\${what}: \${String(actual)}, but \${String(expected)} is right\`)
}
`

export const openapiFetch = ({ api, token, path, body }: Target): string => `
import createClient from 'openapi-fetch'
import type { paths } from './openapiTypescript.js'
${expect}
const client = createClient<paths>({ baseUrl: '${api}', headers: { authorization: 'Bearer ${token}' } })
const list = await client.GET('${path}', { params: { query: { limit: 1 } } })
if (!list.data) throw new Error('no list')
const total: number = list.data.meta.total
const [row] = list.data.data
expect('rows', list.data.data.length, Math.min(total, 1))
const get = await client.GET('${path}/{item_id}', { params: { path: { item_id: String(row?.id) } } })
expect('the row', get.data?.id, row?.id)
const create = await client.POST('${path}', { body: ${JSON.stringify(body)} })
const id: number | null | undefined = create.data?.id
expect('the new row', typeof id, 'number')
const invalid = await client.GET('${path}', { params: { query: { limit: 0 } } })
if (!invalid.error || !('detail' in invalid.error)) throw new Error('no detail')
expect('the issue', invalid.error.detail[0]?.type, 'greater_than_equal')
const refused = await client.POST('${path}', { body: {} as never })
expect('the code', refused.error?.error.code, 'validation_error')
const missing = await client.GET('${path}/{item_id}', { params: { path: { item_id: 'none' } } })
if (!missing.error || !('error' in missing.error)) throw new Error('no envelope')
expect('the code', missing.error.error.code, 'not_found')
`

export const heyApi = ({ api, token, operations: { list, get, create }, body }: Target): string => `
import { client } from './heyApi/client.gen.js'
import { ${create}, ${get}, ${list} } from './heyApi/sdk.gen.js'
${expect}
client.setConfig({ baseUrl: '${api}', auth: '${token}' })
const page = await ${list}({ query: { limit: 1 } })
if (!page.data) throw new Error('no list')
const total: number = page.data.meta.total
const [row] = page.data.data
expect('rows', page.data.data.length, Math.min(total, 1))
const found = await ${get}({ path: { item_id: String(row?.id) } })
expect('the row', found.data?.id, row?.id)
const created = await ${create}({ body: ${JSON.stringify(body)} })
const id: number | null | undefined = created.data?.id
expect('the new row', typeof id, 'number')
const invalid = await ${list}({ query: { limit: 0 } })
if (!invalid.error || !('detail' in invalid.error)) throw new Error('no detail')
expect('the issue', invalid.error.detail[0]?.type, 'greater_than_equal')
const refused = await ${create}({ body: {} as never })
expect('the code', refused.error?.error.code, 'validation_error')
const missing = await ${get}({ path: { item_id: 'none' } })
if (!missing.error || !('error' in missing.error)) throw new Error('no envelope')
expect('the code', missing.error.error.code, 'not_found')
`

export const orval = ({ token, operations: { list, get, create }, body }: Target): string => `
import { ${create}, ${get}, ${list} } from './orvalClient.js'
${expect}
const write = { headers: { authorization: 'Bearer ${token}' } }
const page = await ${list}({ limit: 1 })
if (page.status !== 200) throw new Error('no list')
const total: number = page.data.meta.total
const [row] = page.data.data
expect('rows', page.data.data.length, Math.min(total, 1))
const found = await ${get}(String(row?.id))
expect('the row', found.status === 200 && found.data.id, row?.id)
const created = await ${create}(${JSON.stringify(body)}, write)
if (created.status !== 201) throw new Error('no new row')
const id: number | null | undefined = created.data.id
expect('the new row', typeof id, 'number')
const invalid = await ${list}({ limit: 0 })
expect('the issue', invalid.status === 422 && invalid.data.detail[0]?.type, 'greater_than_equal')
const refused = await ${create}({} as never, write)
expect('the code', refused.status === 422 && refused.data.error.code, 'validation_error')
const missing = await ${get}('none')
expect('the code', missing.status === 404 && missing.data.error.code, 'not_found')
`
