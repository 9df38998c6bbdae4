/** Callers with API keys, for services with access rules. */
import type { Identity } from '../../engine/descriptor/access.js'
import type { Credentials } from '../../engine/http/callers.js'
import { digestOf } from '../../engine/http/keys.js'

type Given = Pick<Identity, 'roles'> & Partial<Pick<Identity, 'claims' | 'expires'>>

/** Credentials in which the key of each caller is its name; callers may be changed while the service runs. */
export const callersNamed = (callers: Record<string, Given>): Credentials => {
  const identities = new Map<Given, Identity>()
  const identityOf = (name: string, given: Given): Identity => {
    const known = identities.get(given) ?? { name, owner: `key ${name}`, claims: {}, ...given }
    identities.set(given, known)
    return known
  }
  const find = (digest: string): Identity | undefined => {
    const [name, given] = Object.entries(callers).find(([one]) => digestOf(one) === digest) ?? []
    return given && name !== undefined ? identityOf(name, given) : undefined
  }
  return { keys: { find, close: () => {} } }
}
