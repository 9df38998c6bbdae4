/** Requests as lines of text, each with its answer: `ana PATCH tasks/{task} if-match="x" {"title":"New"} -> 412`. */
import * as assert from 'uvu/assert'
import { basePath } from '../../engine/contract/service.js'
import { authorized, issuesOf, type TestClient, type TestResponse } from './service.js'

export interface RequestLine {
  /** What later lines call the row and its tag: with `task`, `{task}` and `{task.tag}`. */
  readonly as?: string
  /** Whose key is sent: by default the write token, for writes alone. */
  readonly caller?: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly expected?: string
}

const grammar =
  /^(?:(?<as>\w+) = )?(?:(?<caller>[\w.-]+) )?(?<method>[A-Z]+) (?<path>\S+)(?<given>(?: [a-z-]+=\S+)*)(?: (?<body>(?!-> ).*?))?(?: -> (?<expected>.*))?$/

/** `POST tasks {"title":"New"} & DELETE tasks/7`, as the body of a batch, whose bodies are as they are written. */
const batchOf = (text: string): string => {
  const operations = text.split(' & ').map((part) => {
    const { as, method, path, body, headers } = parseLine(part)
    const operation = JSON.stringify({ method, path: path.slice(basePath.length), as, ifMatch: headers['if-match'] })
    return body === undefined ? operation : `${operation.slice(0, -1)},"body":${body}}`
  })
  return `{"operations":[${operations.join()}]}`
}

const batchGrammar =
  /^(?<caller>(?:[\w.-]+ )?)BATCH(?<given>(?: [a-z-]+=\S+)*) (?<operations>.*?)(?<expected>(?: -> .*)?)$/

const parseLine = (line: string): RequestLine => {
  const batch = batchGrammar.exec(line)?.groups
  if (batch) {
    const { caller, given, operations = '', expected } = batch
    return parseLine(`${caller}POST batch${given} ${batchOf(operations)}${expected}`)
  }
  const { as, caller, method = '', path = '', given = '', body, expected } = grammar.exec(line)?.groups ?? {}
  if (!method) throw new Error(`This is no request: ${line}`)
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  const authorization = caller === undefined ? !isRead && authorized.authorization : `Bearer ${caller}`
  return {
    ...{ method, path: path.startsWith('/') ? path : `${basePath}/v1/${path}` },
    headers: {
      ...(authorization && caller !== 'nobody' && { authorization }),
      ...(!isRead && { 'content-type': 'application/json' }),
      ...Object.fromEntries([...given.matchAll(/([a-z-]+)=(\S+)/g)].map(([, name, value]) => [name, value])),
    },
    ...Object.fromEntries(Object.entries({ as, caller, body, expected }).filter(([, value]) => value !== undefined)),
  }
}

/** The requests of some lines; one that begins with # is a comment. */
export const parseRequests = (text: string): RequestLine[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(parseLine)

/** A value with only the members that another one has. */
export const partOf = (value: unknown, like: unknown): unknown => {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((item, n) => partOf(item, like[n]))
  if (typeof value !== 'object' || typeof like !== 'object' || value === null || like === null) return value
  const given = Object.entries(value).filter(([key]) => key in like)
  return Object.fromEntries(given.map(([key, one]) => [key, partOf(one, (like as Record<string, unknown>)[key])]))
}

/** An answer is a status, and after it a part of the body (after = all of it), the issues of a 422, or the code of another error. */
const assertAnswer = (response: TestResponse, expected: string, what: string): void => {
  const [, status, replayed, rest] = /^(\d+)( replayed)?(?: (.*))?$/.exec(expected) ?? []
  const message = `${what}\n${response.status} ${response.text.slice(0, 2_000)}`
  assert.is(String(response.status), status, message)
  if (replayed) assert.is(response.headers['idempotency-replayed'], 'true', message)
  if (rest === undefined) return
  const [, whole, json] = /^(= )?([[{"].*)$/.exec(rest) ?? []
  if (json !== undefined) {
    const wanted: unknown = JSON.parse(json)
    assert.equal(whole ? response.body : partOf(response.body, wanted), wanted, message)
  } else assert.is(status === '422' ? issuesOf(response).join(', ') : response.body.error.code, rest, message)
}

/** Sends lines one after another, and returns the last response; names stay known from text to text. */
export const transcriptWith = ({ send }: Pick<TestClient, 'send'>) => {
  const known = new Map<string, string>()
  const filled = (text: string, encode = (value: string) => value) =>
    text.replaceAll(/\{(\w+(?:\.tag)?)\}/g, (given, name) => encode(known.get(name) ?? given))
  const toJsonText = (value: string) => JSON.stringify(value).slice(1, -1)
  return async (text: string): Promise<TestResponse> => {
    const responses: TestResponse[] = []
    for (const { as, method, path, headers, body, expected } of parseRequests(text)) {
      const sent = Object.entries(headers).map(([name, value]) => [name, filled(value)])
      const more = body === undefined ? {} : { body: filled(body, toJsonText) }
      const response = await send(filled(path), { method, headers: Object.fromEntries(sent), ...more })
      if (expected) assertAnswer(response, filled(expected, toJsonText), `${method} ${path} ${body ?? ''}`)
      if (as) known.set(as, String(response.body?.id)).set(`${as}.tag`, String(response.headers['etag']))
      responses.push(response)
    }
    return responses.at(-1) as TestResponse
  }
}

/** Defines a test for each transcript, under what it shows. */
export const testTranscripts = (
  test: (name: string, run: () => Promise<void>) => void,
  run: ReturnType<typeof transcriptWith>,
  transcripts: Readonly<Record<string, string>>,
): void => {
  for (const [fact, lines] of Object.entries(transcripts))
    test(fact, async () => {
      await run(lines)
    })
}
