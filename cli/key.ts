/** Adds an API key to the file in API_KEYS_FILE: `npm run key -- NAME --role hr`. */
import { isDate } from '../engine/descriptor/clock.js'
import { parseJson } from '../engine/descriptor/jsonText.js'
import type { ApiKey } from '../engine/http/keys.js'
import { loadProduct } from '../engine/product.js'
import { defineCommand, flag, optionalText, texts, UsageError } from '../support/options.js'
import { addKey, removeKey } from './keysFile.js'
import { projectFolder } from './project.js'

const command = {
  name: 'key',
  about: 'Makes an API key, adds its digest to the file in API_KEYS_FILE, and prints the key, once.',
  argument: { name: 'NAME', about: 'whose key it is; the log shows this name', required: true },
  options: {
    role: texts('a role of the key; may be given several times', 'ROLE'),
    claim: texts('a claim for row rules, as JSON or text; may be given several times', 'NAME=VALUE'),
    expires: optionalText('first day, in UTC, on which the key no longer works', 'DAY'),
    remove: flag('withdraw the key of this name instead'),
  },
  notes: 'A running service reads the file again within five seconds.',
  exampleSettings: 'API_KEYS_FILE=keys.json',
  example: 'ana --role hr --claim employee_id=45 --expires 2027-01-01',
}

const parseClaim = (text: string): [string, unknown] => {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw new UsageError(`--claim is "${text}", but it must be NAME=VALUE.`)
  return [name, parseJson(value)]
}

export default defineCommand(command, async ({ role, claim, expires, remove }, name = '') => {
  const path = process.env['API_KEYS_FILE'] || (await loadProduct(projectFolder())).product.keysFile
  if (!path) throw new UsageError('API_KEYS_FILE is not set; it is the path of the file with the keys.')
  if (remove) {
    if (role.length + claim.length > 0 || expires !== undefined)
      throw new UsageError('--remove withdraws a key; leave out --role, --claim and --expires.')
    return removeKey(path, name)
  }
  if (expires !== undefined && !isDate(expires))
    throw new UsageError(`--expires is "${expires}", but it must be a day such as 2027-01-01.`)
  const entries = claim.map(parseClaim)
  const claims = Object.fromEntries(entries) as NonNullable<ApiKey['claims']>
  if (Object.keys(claims).length < entries.length)
    throw new UsageError('--claim names a claim twice; write several values as a list: NAME=[1,2].')
  const roles = [...new Set(role)]
  console.log(addKey(path, { name, roles, ...(claim.length > 0 && { claims }), expires }))
})
