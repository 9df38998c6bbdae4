/** Checks every response against the served OpenAPI document: its status, its body and its headers. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

interface DocumentedOperation {
  readonly description: string
  readonly responses: Record<string, { readonly headers: Record<string, { readonly required: boolean }> }>
}
interface OpenApiDocument {
  readonly paths: Record<string, Record<string, DocumentedOperation>>
}

export interface ReceivedResponse {
  readonly method: string
  readonly path: string
  readonly status: number
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => unknown
  readonly text: string
}

const pointer = (...parts: string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

/** Returns a function that throws if a response differs from the document. */
export const conformance = (document: OpenApiDocument, basePath: string): ((response: ReceivedResponse) => void) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
  ajv.addSchema(document, 'document')
  const compiled = new Map<string, ValidateFunction>()
  const validate = (schema: string, text: string): void => {
    const check = compiled.get(schema) ?? ajv.compile({ $ref: `document#${schema}` })
    compiled.set(schema, check)
    if (!check(JSON.parse(text))) throw new Error(`${schema}: ${ajv.errorsText(check.errors)}\n${text.slice(0, 500)}`)
  }
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${basePath}${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))

  return ({ method, path, status, header, text }) => {
    const [plain = ''] = path.split('?')
    const template = templates.find(({ pattern }) => pattern.test(plain))?.template
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = template === undefined ? undefined : document.paths[template]?.[verb]
    const responses = operation?.responses
    const response = responses?.[status]
    if (responses && !response) throw new Error(`${method} ${path.slice(0, 300)}: ${status} is not documented`)
    for (const [name, { required }] of Object.entries(response?.headers ?? {})) {
      if (required && header(name.toLowerCase()) === undefined)
        throw new Error(`${method} ${path}: ${status} has no ${name}`)
    }
    if (text === '') return
    const contentType = header('content-type')
    const isJson = contentType === 'application/json; charset=utf-8'
    // Pages for people have errors in HTML; the formats of whole results are in the description.
    const [mediaType = ''] = String(contentType).split(';')
    if (!responses && mediaType === 'text/html') return
    if (status === 200 && operation?.description.includes(`\`Accept: ${mediaType}\``)) return
    if ((responses || status >= 400) && !isJson) throw new Error(`${method} ${path}: content type ${contentType}`)
    if (responses && template) {
      validate(
        pointer('paths', template, verb, 'responses', String(status), 'content', 'application/json', 'schema'),
        text,
      )
    } else if (status >= 400) validate(pointer('components', 'schemas', 'ErrorEnvelope'), text)
  }
}
