/** Holds every response against the served OpenAPI document: what is not documented there must not be answered. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

interface Documented {
  readonly paths: Record<string, Record<string, { responses: Record<string, object> }>>
}

export interface Received {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly contentType: string
  readonly text: string
}

const pointer = (...parts: string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

/** Makes a check that throws where a response is not what the document says. */
export const conformance = (document: Documented, basePath: string): ((received: Received) => void) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'document')
  const compiled = new Map<string, ValidateFunction>()
  const validate = (where: string, text: string): void => {
    const check = compiled.get(where) ?? ajv.compile({ $ref: `document#${where}` })
    compiled.set(where, check)
    if (!check(JSON.parse(text))) throw new Error(`${where}: ${ajv.errorsText(check.errors)}\n${text.slice(0, 500)}`)
  }
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${basePath}${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))

  return ({ method, path, status, contentType, text }) => {
    const [plain = ''] = path.split('?')
    const template = templates.find(({ pattern }) => pattern.test(plain))?.template
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const responses = template && document.paths[template]?.[verb]?.responses
    if (responses && !(status in responses))
      throw new Error(`${method} ${path} answered ${status}, which is not documented`)
    if (text === '') return
    const isJson = contentType === 'application/json; charset=utf-8'
    if ((responses || status >= 400) && !isJson)
      throw new Error(`${method} ${path} answered ${contentType || 'no type'}`)
    if (responses && template) {
      validate(
        pointer('paths', template, verb, 'responses', String(status), 'content', 'application/json', 'schema'),
        text,
      )
    } else if (status >= 400) validate(pointer('components', 'schemas', 'ErrorEnvelope'), text)
  }
}
