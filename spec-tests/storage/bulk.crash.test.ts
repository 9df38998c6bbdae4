/** A service that is killed in the middle of imports and batches: each is stored as a whole or not at all, and keys replay. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startProcess } from '../../support/process.js'
import { root } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { freshUrl } from '../support/database.js'

const project = temporaryProject(root, join(root, 'stress'))
writeFileSync(
  join(project, 'product.ts'),
  "export const product = { name: 'Batches', about: 'Writes together.', version: '1', batch: true }",
)
const API_TOKEN = 'the-token-of-the-crash-test-of-imports'
const environment = { DATABASE_URL: await freshUrl(), API_TOKEN, EXPLORER: 'false' }

const [rounds, size] = [6, 400]

interface Bulk {
  readonly author: string
  readonly path: string
  readonly body: string
  readonly type: string
  /** The response, once there is one. */
  answer?: string
}

const bulkOf = (author: string, n: number): Bulk => {
  const rows = Array.from({ length: n % 2 === 0 ? size : size / 4 }, (_, k) => ({
    slug: `${author}-${k}`,
    author,
    body: `row ${k} of ${author}`,
  }))
  if (n % 2 === 0)
    return {
      author,
      path: 'stress-notes/import',
      type: 'application/x-ndjson',
      body: rows.map((row) => JSON.stringify(row)).join('\n'),
    }
  const operations = rows.map((body, k) => ({
    method: 'POST',
    path: '/v1/stress-notes',
    as: `n${k}`,
    body: k === 0 ? body : { ...body, parent_id: { $ref: 'n0.id' } },
  }))
  return { author, path: 'batch', type: 'application/json', body: JSON.stringify({ operations }) }
}

const send = async (address: string, { path, type, body, author }: Bulk): Promise<string> => {
  const response = await fetch(`${address}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': type, 'idempotency-key': author },
    body,
  })
  const text = await response.text()
  assert.ok(response.ok, `${response.status} ${text.slice(0, 300)}`)
  return text
}
const countOf = async (address: string, { author }: Bulk): Promise<number> => {
  const response = await fetch(`${address}/api/v1/stress-notes?limit=1&author=${author}`)
  return ((await response.json()) as { meta: { total: number } }).meta.total
}

const test = suite('crashes during imports and batches')

test('each is stored as a whole or not at all, and a retry has the same outcome', async () => {
  const sent: Bulk[] = []
  for (let round = 0; round < rounds; round++) {
    const running = await startProcess(environment, { project })
    const bulks = [0, 1, 2].map((n) => bulkOf(`r${round}-${n}`, n + round))
    sent.push(...bulks)
    const answers = bulks.map(async (bulk) => {
      bulk.answer = await send(running.address, bulk)
    })
    await setTimeout(20 + 40 * round)
    running.child.kill('SIGKILL')
    await Promise.allSettled(answers)
    await running.end('SIGKILL')
  }
  const { address, end } = await startProcess(environment, { project })
  for (const bulk of sent) {
    const { path, answer } = bulk
    const whole = path === 'batch' ? size / 4 : size
    const count = await countOf(address, bulk)
    assert.ok(count === whole || (count === 0 && answer === undefined), `${bulk.author}: ${count}`)
    const again = await send(address, bulk)
    if (answer !== undefined) assert.is(again, answer)
    assert.is(await countOf(address, bulk), whole)
  }
  assert.ok(sent.some(({ answer }) => answer === undefined))
  await end('SIGTERM')
})

test.run()
