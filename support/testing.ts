/** `resource-registry-engine/testing`: what the tests of a project import. */
import { randomBytes } from 'node:crypto'
import { type Callback, test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Identity } from '../engine/descriptor/access.js'
import { digestOf } from '../engine/http/keys.js'
import { openService } from '../engine/service.js'
import { asManaged } from './managed.js'
import { dropDatabase, freshUrl } from './testDatabases.js'

export { assert, test }

/** uvu counts the tests after a hook that throws as failed, and does not say why. */
const { before } = test
test.before = Object.assign((hook: Callback) => {
  before(async (context) => {
    try {
      await hook(context)
    } catch (error) {
      console.error(error)
      throw error
    }
  })
}, before)

/** Who sends the requests of a test, as an API key or a token would say it. */
export interface TestCaller {
  readonly name: string
  readonly roles?: readonly string[]
  readonly claims?: Readonly<Record<string, unknown>>
}

export interface TestService {
  /** Answers a request: without a caller, or of the caller that `as` named. */
  fetch(request: Request): Promise<Response>
  /** The same service for a caller. */
  as(caller: TestCaller | 'API_TOKEN'): TestService
  /** Closes the service and removes its database. */
  close(): Promise<void>
}

const randomKey = (): string => randomBytes(24).toString('base64url')

/** A service of the project on a new database with the demo rows. */
export const startTestService = async (): Promise<TestService> => {
  const token = randomKey()
  const url = await freshUrl()
  const callers = new Map<string, Identity>()
  const service = await openService(
    {
      folder: process.env['TEST_PROJECT'] ?? process.cwd(),
      settings: { DATABASE_URL: url, API_TOKEN: token, LOG_LEVEL: 'error' },
    },
    { registry: (registry) => registry.map(asManaged), findCaller: (digest) => callers.get(digest) },
  )
  const keyOf = (caller: TestCaller | 'API_TOKEN'): string => {
    if (caller === 'API_TOKEN') return token
    if (typeof caller?.name !== 'string' || ['', 'API_TOKEN'].includes(caller.name))
      throw new Error("A caller of as() is 'API_TOKEN' or has a name: as({ name: 'ana', roles: ['hr'] }).")
    const key = randomKey()
    const { name, roles = [], claims = {} } = caller
    callers.set(digestOf(key), { name, owner: `key ${name}`, roles, claims })
    return key
  }
  const client = (key?: string): TestService => ({
    fetch(request) {
      if (key === undefined) return service.fetch(request)
      const converted = new Request(request)
      converted.headers.set('authorization', `Bearer ${key}`)
      return service.fetch(converted)
    },
    as: (caller) => client(keyOf(caller)),
    async close() {
      await service.close()
      await dropDatabase(url)
    },
  })
  return client()
}
