/** API keys: a file with their digests, read again when it changes. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Identity, service } from '../descriptor/access.js'
import { isDate } from '../descriptor/clock.js'
import { parseEntries, SettingFileError, watchFile } from '../process/watchedFile.js'

const word = z.string().min(1).max(200)

const keySchema = z.strictObject({
  name: word,
  roles: z.array(word),
  claims: z.record(z.string(), z.json()).optional(),
  /** The digest of the key, in lower-case hexadecimal digits. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The first day, in UTC, on which the key no longer works. */
  expires: z.string().refine(isDate).optional(),
})

export type ApiKey = z.output<typeof keySchema>

export const digestOf = (key: string | Buffer): string => createHash('sha256').update(key).digest('hex')

/** What a key may have, for messages; its values are not shown. */
const expected =
  'a key has a name, roles (a list of texts), sha256 (64 lower-case hexadecimal digits) and, if wanted, claims (an object) and expires (a day such as 2027-01-01)'

/** Reads the text of a file with keys; throws with what is wrong. */
export const parseKeys = (source: string): ApiKey[] => {
  const keys = parseEntries(source, keySchema, { noun: 'key', expected })
  if (keys.some(({ name }) => name === service.name))
    throw new SettingFileError(
      `a key cannot have the name ${service.name}: histories of rows would show it as the write token`,
    )
  for (const member of ['name', 'sha256'] as const) {
    const repeated = keys.find((key, n) => keys.findIndex((other) => other[member] === key[member]) < n)
    if (repeated) throw new SettingFileError(`two keys have the same ${member}: ${repeated.name}`)
  }
  return keys
}

const identityOf = ({ name, roles, claims = {}, expires }: ApiKey): Identity => ({
  name,
  owner: `key ${name}`,
  roles,
  claims,
  ...(expires !== undefined && { expires: Date.parse(`${expires}T00:00:00Z`) }),
})

/** Opens the file of keys; throws if it is wrong. */
export const openKeys = (path: string, warn: (message: string) => void) => {
  let identities = new Map<string, Identity>()
  const parse = (source: string): ApiKey[] => {
    const keys = parseKeys(source)
    identities = new Map(keys.map((key) => [key.sha256, identityOf(key)]))
    return keys
  }
  const file = watchFile({ setting: 'API_KEYS_FILE', path, parse, noun: 'keys', warn })
  return {
    /** The caller with a key of this digest; the key may have expired. */
    find: (digest: string): Identity | undefined => identities.get(digest),
    close: file.close,
  }
}

export type Keys = ReturnType<typeof openKeys>
