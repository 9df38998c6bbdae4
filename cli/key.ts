/** Adds an API key to the file in API_KEYS_FILE: `npm run key -- NAME --role hr`. */
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { isDate } from '../engine/descriptor/clock.js'
import { parseJson } from '../engine/descriptor/jsonText.js'
import { type ApiKey, digestOf, parseKeys } from '../engine/http/keys.js'
import { CommandError, defineCommand, optionalText, texts, UsageError } from '../support/options.js'

const command = {
  name: 'key',
  about: 'Makes an API key, adds its digest to the file in API_KEYS_FILE, and prints the key, once.',
  argument: { name: 'NAME', about: 'whose key it is; the log shows this name', required: true },
  options: {
    role: texts('a role of the key; may be given several times', 'ROLE'),
    claim: texts('a claim for row rules, as JSON or text; may be given several times', 'NAME=VALUE'),
    expires: optionalText('first day, in UTC, on which the key no longer works', 'DAY'),
  },
  notes: 'A running service reads the file again within five seconds. To withdraw a key, remove its entry.',
  exampleSettings: 'API_KEYS_FILE=keys.json',
  example: 'ana --role hr --claim employee_id=45 --expires 2027-01-01',
}

const parseClaim = (text: string): [string, unknown] => {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw new UsageError(`--claim is "${text}", but it must be NAME=VALUE.`)
  return [name, parseJson(value)]
}

/** The keys that the file has; none if there is no file yet. */
const readKeys = (path: string): ApiKey[] => {
  if (!existsSync(path)) return []
  try {
    return parseKeys(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CommandError(`API_KEYS_FILE cannot be used: ${(error as Error).message}.`)
  }
}

export default defineCommand(command, async ({ role, claim, expires }, name = '') => {
  const path = process.env['API_KEYS_FILE']
  if (!path) throw new UsageError('API_KEYS_FILE is not set; it is the path of the file with the keys.')
  if (expires !== undefined && !isDate(expires))
    throw new UsageError(`--expires is "${expires}", but it must be a day such as 2027-01-01.`)
  const keys = readKeys(path)
  if (keys.some((other) => other.name === name))
    throw new CommandError(`There is a key with the name "${name}" already.`)
  const key = randomBytes(32).toString('base64url')
  const entries = claim.map(parseClaim)
  const claims = Object.fromEntries(entries)
  if (Object.keys(claims).length < entries.length)
    throw new UsageError('--claim names a claim twice; write several values as a list: NAME=[1,2].')
  const added = {
    name,
    roles: [...new Set(role)],
    ...(claim.length > 0 && { claims }),
    sha256: digestOf(key),
    ...(expires !== undefined && { expires }),
  }
  const text = JSON.stringify([...keys, added], null, 2)
  parseKeys(text)
  // Under another name first, so that a service never reads half a file.
  const written = `${path}.${process.pid}`
  try {
    writeFileSync(written, `${text}\n`, { mode: 0o600 })
    // The user that runs the service must still be able to read it.
    const { mode, uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mode !== undefined) chmodSync(written, mode)
    if (uid !== undefined && gid !== undefined && process.getuid?.() === 0) chownSync(written, uid, gid)
    renameSync(written, path)
  } catch (error) {
    throw new CommandError(`The key was not added: ${(error as Error).message}`)
  }
  console.log(key)
})
