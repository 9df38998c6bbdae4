/** An upgrade from the version before: this version takes over its project and its database, keeps what `cases.ts` lists, and runs beside it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../support/cleanup.js'
import { startProcess } from '../../support/process.js'
import { main, root } from '../../support/root.js'
import { server, sharedDatabase } from '../support/database.js'
import { beside, type Call, callers, gateLog, previousOperation, reads, writes } from './cases.js'
import { packPrevious, previousCommit } from './previousVersion.js'

const token = 'the-write-token-of-the-upgrade'

interface Answer {
  readonly status: number
  readonly body: string
  readonly etag: string | null
  readonly link: string | null
  readonly isReplay: boolean
}

const test = suite('upgrade')

const previous = packPrevious()
if (previous === undefined) {
  console.log(
    `Skipped: this folder is no clone with commit ${previousCommit}, the version before. In a clone, git fetch --unshallow gets it.`,
  )
  test.skip()
} else {
  const folder = join(temporaryFolder('upgrade').path, 'library')
  const database = await sharedDatabase()
  const environment = { DATABASE_URL: database.url, API_TOKEN: token, API_KEYS_FILE: join(folder, 'keys.json') }

  /** Runs a command of a version to its end. */
  const run = async (version: string, cwd: string, ...args: string[]) => {
    const { PATH, HOME } = process.env
    const child = spawn(process.execPath, [version, ...args], { cwd, env: { PATH, HOME, ...environment } })
    const [[code], output, errors] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
    assert.is(code, 0, `${args.join(' ')}: ${output}${errors}`)
    return output
  }
  const start = (version: string) => startProcess(environment, { project: folder, main: version })
  type Running = Awaited<ReturnType<typeof start>>

  await run(previous, join(folder, '..'), 'init', 'library')
  cpSync(join(root, 'spec-tests', 'library'), folder, { recursive: true })
  const keys: Record<string, string> = { service: token }
  for (const [name, args] of Object.entries(callers))
    keys[name] = (await run(previous, folder, 'key', name, ...args)).trim()
  await database.run(server ? gateLog.postgres : gateLog.sqlite)

  const send = async ({ address }: Running, call: Call, path = `/api/v1/${call.path}`): Promise<Answer> => {
    const { method = 'GET', caller, key, body, type = 'application/json', accept } = call
    const headers = {
      ...(caller && { authorization: `Bearer ${keys[caller]}` }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': type }),
      ...(accept !== undefined && { accept }),
    }
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const response = await fetch(`${address}${path}`, { method, headers, ...sent })
    const expected = call.status ?? ({ POST: 201, DELETE: 204 } as Record<string, number>)[method] ?? 200
    const answer = {
      status: response.status,
      body: await response.text(),
      etag: response.headers.get('etag'),
      link: response.headers.get('link'),
      isReplay: response.headers.get('idempotency-replayed') === 'true',
    }
    assert.is(answer.status, expected, `${method} ${path}: ${answer.body}`)
    return answer
  }

  /** What clients are promised to get again: of a list's tag nothing, because it is that of its table's version. */
  const promised = ({ path, accept }: Call, { status, body, etag }: Answer) => ({
    path,
    status,
    body,
    ...(/^\w+\/[^?/]+$/.test(path) && accept === undefined && status === 200 && !path.includes('summary') && { etag }),
  })
  const readAll = async (from: Running) => {
    const answers = []
    for (const call of reads) answers.push(promised(call, await send(from, call)))
    return answers
  }
  const nextOf = ({ link }: Answer): string | undefined => /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1]
  const total = async (from: Running, path: string) =>
    (JSON.parse((await send(from, { path, caller: 'service' })).body) as { meta: { total: number } }).meta.total

  const countsMatch = /The stored counts of all 6 tables match their rows\./

  // The version before makes everything that the tests then look for.
  const operation = join('operations', 'shelve-book.ts')
  writeFileSync(join(folder, operation), previousOperation)
  const old = await start(previous)
  const written: { call: Call; answer: Answer }[] = []
  for (const call of writes) written.push({ call, answer: await send(old, call) })
  const before = await readAll(old)
  const continued: { call: Call; next: string; answer: Answer }[] = []
  for (const call of reads) {
    const next = nextOf(await send(old, call))
    if (next !== undefined) continued.push({ call, next, answer: await send(old, call, next) })
  }
  await old.end('SIGTERM')
  cpSync(join(root, 'spec-tests', 'library', operation), join(folder, operation))

  test('check and plan accept the project and the database', async () => {
    assert.match(await run(main, folder, 'check', '--database'), /^6 resources and their demo rows have no errors\.$/m)
    assert.not.match(await run(main, folder, 'plan'), /refused/)
  })

  test('migrate brings the database up to date, and its counts are right', async () => {
    assert.match(await run(main, folder, 'migrate'), countsMatch)
    await run(main, folder, 'plan', '--check')
  })

  test('test passes', async () => {
    const output = await run(main, folder, 'test', ...(server ? ['--database', server] : []))
    assert.match(output, /\n\d\d+ passed, 0 failed(?:, \d+ skipped)?\n$/)
  })

  test('every read, cursor and idempotency key gives what the version before gave', async () => {
    const service = await start(main)
    assert.equal(await readAll(service), before)
    assert.ok(continued.length > 5)
    for (const { call, next, answer } of continued) assert.is((await send(service, call, next)).body, answer.body, next)
    for (const { call, answer } of written.filter(({ call: { key, status } }) => key !== undefined && status !== 422)) {
      const { status, body, isReplay } = await send(service, call)
      assert.equal({ status, body, isReplay }, { status: answer.status, body: answer.body, isReplay: true }, call.key)
    }
    assert.equal(await readAll(service), before, 'a replay writes nothing')
    assert.is(await service.end('SIGTERM'), 0)
  })

  test('both versions run side by side: each finds what the other writes', async () => {
    const [older, newer] = await Promise.all([start(previous), start(main)])
    const books = await total(newer, 'books')
    const count = 15
    for (let n = 0; n < count; n += 1) await Promise.all([send(older, beside('old', n)), send(newer, beside('new', n))])
    for (const from of [older, newer]) {
      assert.is(await total(from, 'books'), books + 2 * count)
      assert.is(await total(from, 'books?q=beside'), 2 * count)
      assert.is(await total(from, 'books?q=beside%20old'), count)
      assert.is(await total(from, 'books?pages=3'), 2)
    }
    assert.equal(await readAll(older), await readAll(newer))
    // Keys, deletes and changes through the other version.
    for (const [from, version] of [
      [older, 'new'],
      [newer, 'old'],
    ] as const)
      assert.ok((await send(from, { ...beside(version, 1) })).isReplay)
    for (const [from, other] of [
      [older, newer],
      [newer, older],
    ] as const) {
      const [{ id }] = JSON.parse((await send(from, { path: 'books?q=beside&sort=-id&limit=1' })).body).data
      await send(from, { caller: 'service', method: 'PATCH', path: `books/${id}`, body: { title: `Changed ${id}` } })
      assert.is(await total(other, `books?q=changed%20${id}`), 1)
      await send(from, { caller: 'service', method: 'DELETE', path: `books/${id}` })
      await send(other, { path: `books/${id}`, status: 404 })
      assert.is(await total(other, `books?q=changed%20${id}`), 0)
    }
    for (const from of [older, newer]) assert.is(await total(from, 'books'), books + 2 * count - 2)
    for (const service of [older, newer]) assert.is(await service.end('SIGTERM'), 0)
    for (const version of [previous, main]) assert.match(await run(version, folder, 'migrate'), countsMatch)
  })
}

test.run()
