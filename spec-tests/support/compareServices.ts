/** Sends the same requests to two services, and finds those that they answer differently. */
import { join } from 'node:path'
import { temporaryFolder } from '../../support/cleanup.js'
import { type ComparedRequest, comparedCallers, comparedRegistry, comparedRequests } from './comparedRequests.js'
import { clientOf, nextPage, startService, type TestResponse } from './service.js'

/** What differs between any two services: the time, ids that nobody can guess, and what is derived from them. */
const normalized = (text: string): string => {
  const ids = new Map<string, string>()
  const today = new Date().toISOString().slice(0, 10)
  return (
    text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
        const known = ids.get(id) ?? `uuid ${ids.size + 1}`
        ids.set(id, known)
        return known
      })
      .replaceAll(new RegExp(`${today}T[0-9:.]+Z`, 'g'), 'now')
      // Pages of the explorer have the address, the time as people read it, tags, and the counts of values if these took no time.
      .replaceAll(/127\.0\.0\.1:\d+/g, 'host')
      .replaceAll(/<time datetime="now"[^>]*>[^<]*</g, '<time>now<')
      .replaceAll(/(?<=tag=|If-Match: &quot;|data-tag="|&quot;,&quot;)[\w-]{22}(?=["&])/g, 'tag')
      .replace(/<aside class="filters".*?<\/aside>/s, '')
      .replace(/<section class="charts.*?(?=<section class="results")/s, '')
  )
}

/** Everything that two services must answer alike; the tag of a row, where it is that of the same text. */
const describe = ({ status, text, headers: { link, location, etag } }: TestResponse): string => {
  const body = normalized(text)
  const tag = body === text && text.startsWith('{"id":') ? etag : undefined
  return [status, body, normalized(`${link} ${location}`), tag].join(' ')
}

const exchangeWith = (address: string) => {
  const { send } = clientOf(address)
  const ids = new Map<string, string>()
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (given, name: string) => ids.get(name) ?? given)
  const answer = async ({ method, path, headers, body, as, isFollowed }: ComparedRequest): Promise<string> => {
    let response: TestResponse = await send(filled(path), { method, headers, ...(body && { body: filled(body) }) })
    if (as) ids.set(as, String(response.body?.id))
    const answers = [response]
    for (let link = nextPage(response); isFollowed && link; link = nextPage(response)) {
      response = await send(link, { method, headers })
      answers.push(response)
    }
    return answers.map(describe).join('\n')
  }
  return (request: ComparedRequest) => answer(request).catch((error: Error) => `no answer: ${error.message}`)
}

/** The first place where two texts differ, with what surrounds it. */
const difference = (one: string, other: string): string => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 160))
  return `${around(one)} instead of ${around(other)}`
}

type Settings = NonNullable<Parameters<typeof startService>[0]>

/** Each difference as a line: the request, what the first service answers, and what the second does. */
export const differencesBetween = async (
  one: Settings,
  other: Settings,
  requests: readonly ComparedRequest[] = comparedRequests,
): Promise<string[]> => {
  const common = { registry: comparedRegistry, credentials: comparedCallers, explorer: true, batch: true }
  const [service, expected] = [await startService({ ...common, ...one }), await startService({ ...common, ...other })]
  const [answer, expectedAnswer] = [exchangeWith(service.address), exchangeWith(expected.address)]
  const differences: string[] = []
  for (const request of requests) {
    const [found, wanted] = [await answer(request), await expectedAnswer(request)]
    const { method, path, headers } = request
    if (found !== wanted)
      differences.push(`${method} ${path} (${headers['authorization']}): ${difference(found, wanted)}`)
  }
  return differences
}

/** What a service answers otherwise than one on SQLite. */
export const differencesFromSqlite = (settings: Settings): Promise<string[]> =>
  differencesBetween(settings, { url: `sqlite:${join(temporaryFolder('compared').path, 'compared.sqlite')}` })
