/** Runs the custom operations that forms of the explorer ask for. */
import * as errors from '../contract/errors.js'
import type { CustomOperation } from '../contract/operations.js'
import { bodyLimit } from '../contract/rowBody.js'
import { hasRole } from '../descriptor/access.js'
import { postedId, postedText } from '../explorer/controlTexts.js'
import { isPublicOperation } from '../explorer/ownOperations.js'
import { inputName, type Member, readOperation } from '../explorer/schemaControls.js'
import { type FormHandler, issuesIn } from './forms.js'
import { ownRunner } from './own.js'
import type { Service } from './serviceParts.js'

/** The most characters of a form: what it means is read again for each page. */
const maxTyped = 256 * 1024

/** The most characters of a query, as the parser of HTTP allows. */
const maxQuery = 16 * 1024

export const createOperationForm = (service: Service, operation: CustomOperation): FormHandler => {
  const { definition: own } = operation
  const run = ownRunner(service, operation)
  const isPublic = isPublicOperation(own)
  return {
    isPublic,
    typedLimit: maxTyped,
    isAllowed: ({ caller }) =>
      isPublic || caller.isService === true || own.access.some((word) => hasRole(caller, word)),
    async store({ permit, posted }) {
      const textOf = (member: Member): string => {
        const text = postedText(posted, inputName(member)) ?? ''
        return (member.place === 'path' && postedId(text)) || text
      }
      const { params, querystring, body = '', issues } = readOperation(own, textOf)
      if (issues.length > 0) throw errors.bodyInvalid(issues)
      if (querystring.length > maxQuery)
        throw errors.badRequest(414, 'The parameters are too long; a query may have 16 KiB.')
      if (Buffer.byteLength(body) > bodyLimit) throw errors.payloadTooLarge(bodyLimit)
      const stored = await run(permit, { params, querystring, source: body })
      return { ...posted, response: String(stored.body) }
    },
    explain({ posted }, error) {
      const { detail } = error.body as { detail?: readonly errors.Issue[] }
      const fieldMessages = (detail ?? issuesIn(error)).map(({ loc: [place, name = '', ...inside], msg }) => {
        const names = [`${place}.${name}`, `${place}.`]
        const field = names.find((one) => postedText(posted, one) !== undefined)
        const path = (field === `${place}.` ? [name, ...inside] : inside).filter((one) => one !== '')
        return { field, message: `${path.length > 0 ? `${path.join('.')}: ` : ''}${msg}.`, name }
      })
      if (fieldMessages.length === 0) return { ...posted, status: error.status, message: error.message }
      const count = fieldMessages.length === 1 ? '1 error' : `${fieldMessages.length} errors`
      const otherMessages = fieldMessages
        .filter(({ field }) => field === undefined)
        .map(({ name, message }) => `${name}: ${message}`)
      return {
        ...posted,
        status: error.status,
        issues: fieldMessages.flatMap(({ field, message }) => (field === undefined ? [] : [{ field, message }])),
        message: [`Not done: ${count}.`, ...otherMessages].join(' '),
      }
    },
  }
}
