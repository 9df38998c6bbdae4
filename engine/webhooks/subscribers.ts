/** Subscribers: a file that says who is told of the changes of which resources, read again when it changes. */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { z } from 'zod'
import { isAllowed, type Rights, rightsOf } from '../descriptor/access.js'
import { didYouMean } from '../descriptor/nearest.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { parseEntries, SettingFileError, watchFile } from '../process/watchedFile.js'
import { isPrivateAddress } from './addresses.js'

const word = z.string().min(1).max(200)
const secret = 'whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=?|[A-Za-z0-9+/]{2}(?:==)?)'

const entrySchema = z.strictObject({
  name: word,
  url: z.string().max(2_000),
  secret: z.string().regex(new RegExp(`^${secret}(?: ${secret})?$`)),
  resources: z.array(word).min(1),
  roles: z.array(word).optional(),
  claims: z.record(z.string(), z.json()).optional(),
})

type Entry = z.output<typeof entrySchema>

export interface Subscriber {
  readonly name: string
  readonly url: URL
  /** The first is the present one; another may be on its way in or out. */
  readonly secrets: readonly Buffer[]
  readonly resources: readonly Resource[]
  readonly rights: Rights
  /** Differs after each change of its entry. */
  readonly digest: string
}

/** What an entry may have, for messages; its values are not shown. */
const expected =
  'a subscriber has a name, url, secret (whsec_ and base64; two with a space between them while one rotates), resources (a list of their paths) and, if wanted, roles (a list of texts) and claims (an object)'

/** Why the url cannot be used, without quoting it: it may have a secret in it. */
const urlError = (text: string, allowPrivate: boolean): string | undefined => {
  if (!URL.canParse(text)) return 'its url is not an address'
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return 'its url has a user or a password'
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:'))
    return 'its url does not begin with https:// (WEBHOOKS_ALLOW_PRIVATE=true allows http://)'
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  if (!allowPrivate && isIP(address) !== 0 && isPrivateAddress(address))
    return 'its url has a private address (WEBHOOKS_ALLOW_PRIVATE=true allows it)'
  return undefined
}

/** Throws with the nearest path if the subscriber cannot be told of the changes of one of its resources. */
const findResources = ({ name, resources: paths }: Entry, registry: Registry, rights: Rights): Resource[] => {
  const readable = registry.filter((resource) => isAllowed(rights.of(resource).read))
  const possible = readable.filter(({ changes }) => changes).map(({ path }) => path)
  const hint = (path: string) =>
    didYouMean(path, possible) || (possible.length > 0 ? `; it can be told of ${possible.join(', ')}` : '')
  return [...new Set(paths)].map((path) => {
    const resource = registry.find((one) => one.path === path)
    const refuse = (why: string) => {
      throw new SettingFileError(`subscriber "${name}": ${why}${hint(path)}`)
    }
    if (!resource) return refuse(`unknown resource "${path}"`)
    if (!resource.changes) return refuse(`the resource "${path}" has no changes: true`)
    if (!readable.includes(resource)) return refuse(`with its roles and claims it may not read "${path}"`)
    return resource
  })
}

/** Reads the text of a file with subscribers; throws with what is wrong. */
export const parseSubscribers = (source: string, registry: Registry, allowPrivate: boolean): Subscriber[] => {
  const entries = parseEntries(source, entrySchema, { noun: 'subscriber', expected })
  const subscribers = entries.map((data): Subscriber => {
    const { name, url, roles = [], claims = {} } = data
    const wrong = urlError(url, allowPrivate)
    if (wrong !== undefined) throw new SettingFileError(`subscriber "${name}": ${wrong}`)
    const rights = rightsOf({ name, roles, claims })
    return {
      name,
      url: new URL(url),
      secrets: data.secret.split(' ').map((part) => Buffer.from(part.slice('whsec_'.length), 'base64')),
      resources: findResources(data, registry, rights),
      rights,
      digest: createHash('sha256').update(JSON.stringify(data)).digest('base64url'),
    }
  })
  const repeated = subscribers.find(({ name }, n) => subscribers.findIndex((other) => other.name === name) < n)
  if (repeated) throw new SettingFileError(`two subscribers have the same name: ${repeated.name}`)
  return subscribers
}

interface Options {
  readonly registry: Registry
  readonly allowPrivate: boolean
  readonly warn: (message: string) => void
}

/** Opens the file of subscribers; throws if it is wrong. */
export const openSubscribers = (path: string, { registry, allowPrivate, warn }: Options, onChange: () => void) =>
  watchFile<Subscriber>({
    setting: 'WEBHOOKS_FILE',
    path,
    parse: (source) => parseSubscribers(source, registry, allowPrivate),
    noun: 'subscribers',
    warn,
    onChange,
  })
