/** Webhooks of running services: several processes, one that is killed, a file that changes, metrics, and a service within a program. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createService } from '../../engine/service.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { sharedDatabase } from '../support/database.js'
import { officeFolder } from '../support/officeFiles.js'
import { startAndFail, startProcess } from '../support/process.js'
import { isSignedBy, type Received, secretOf, startReceiver } from '../support/receiver.js'
import { closeServices } from '../support/service.js'
import { until } from '../support/until.js'

const token = 'the-write-token-of-the-webhooks'
const secret = secretOf('the secret of the processes')

/** A project in which the changes of leave can be followed. */
const project = temporaryProject(officeFolder)
const leave = join(project, 'resources', 'leave.ts')
writeFileSync(leave, readFileSync(leave, 'utf8').replace('  create: true,', '  create: true,\n  changes: true,'))

let files = 0

const subscribers = (...entries: object[]) => {
  const path = join(project, `subscribers-${++files}.json`)
  const write = (...some: object[]) => {
    writeFileSync(`${path}.new`, JSON.stringify(some))
    renameSync(`${path}.new`, path)
  }
  write(...entries)
  return { path, write }
}

const entry = (url: string, more: object = {}) => ({ name: 'erp', url, secret, resources: ['leave'], ...more })

const settingsFor = (url: string, path: string, more: Record<string, string> = {}) => ({
  DATABASE_URL: url,
  API_TOKEN: token,
  LOG_LEVEL: 'silent',
  WEBHOOKS_FILE: path,
  WEBHOOKS_ALLOW_PRIVATE: 'true',
  ...more,
})

type Client = Pick<Awaited<ReturnType<typeof startProcess>>, 'create'>

const createLeave = async ({ create }: Client, reason: string): Promise<void> => {
  const headers = { authorization: `Bearer ${token}` }
  const { status, text } = await create('leave', { leave_type: 'Annual', reason }, headers)
  if (status !== 201) throw new Error(`${status}: ${text}`)
}

const reasons = ({ body }: Received): string[] =>
  body.data.changes.map(({ row }: { row: { reason: string } }) => row.reason)

const test = suite('processes with webhooks')
test.after(closeServices)

test('workers deliver once, with metrics; the entry of the file may change; a stop gives up what hangs', async () => {
  const { url } = await sharedDatabase()
  const [receiver, other] = [await startReceiver(), await startReceiver()]
  const file = subscribers(entry(receiver.url))
  const settings = settingsFor(url, file.path, { WORKERS: '2', METRICS_PORT: '0' })
  const service = await startProcess(settings, { project })
  await createLeave(service, 'first')
  await receiver.count(1)
  assert.equal(receiver.received.map(reasons), [['first']])
  assert.ok(isSignedBy(secret, receiver.received[0] as Received))
  const metricsAt = /Metrics at (http:\S+\/metrics)/.exec(service.output())?.[1] as string
  await until(async () => {
    const text = await (await fetch(metricsAt)).text()
    return (
      text.includes('registry_webhook_attempts_total{subscriber="erp",outcome="delivered"} 1') &&
      text.includes('registry_webhook_lag_seconds{subscriber="erp"} 0')
    )
  })
  file.write(entry(other.url))
  const isRead = (message: string) => message === 'WEBHOOKS_FILE was read again: 1 subscribers.'
  await until(() => service.messages().filter(isRead).length === 2)
  await createLeave(service, 'second')
  await other.count(1)
  assert.equal(other.received.map(reasons), [['second']])
  file.write(entry(other.url, { resources: ['laeve'] }))
  const kept =
    'WEBHOOKS_FILE cannot be used, and the subscribers stay as they were: subscriber "erp": unknown resource "laeve". Did you mean "leave"?'
  await until(() => service.messages().includes(kept))
  other.answers.push('hang')
  await createLeave(service, 'third')
  await other.count(2)
  const before = performance.now()
  assert.is(await service.end('SIGTERM'), 0)
  assert.ok(performance.now() - before < 5_000)
  file.write(entry(other.url))
  const again = await startProcess(settings, { project })
  await other.count(3)
  assert.equal(
    other.received.slice(1).map(({ id, text }) => [id, text])[0],
    other.received.slice(1).map(({ id, text }) => [id, text])[1],
  )
  assert.is(receiver.received.length, 1)
  await again.end('SIGTERM')
  assert.not.match(service.output() + again.output(), /whsec_|not-for-logs/)
})

test('another process takes over from one that is killed', async () => {
  const { url } = await sharedDatabase()
  const receiver = await startReceiver()
  const settings = settingsFor(url, subscribers(entry(receiver.url)).path)
  const first = await startProcess(settings, { project })
  await createLeave(first, 'first')
  await receiver.count(1)
  const second = await startProcess(settings, { project })
  receiver.answers.push('hang')
  await createLeave(second, 'second')
  await receiver.count(2)
  const killed = Date.now()
  await first.end('SIGKILL')
  await receiver.count(3)
  const [, two, three] = receiver.received as [Received, Received, Received]
  assert.equal([three.id, three.text], [two.id, two.text])
  assert.ok(three.at - killed < 30_000, `${three.at - killed} ms`)
  await second.end('SIGTERM')
})

test('a file that is wrong prevents a start', async () => {
  const { url } = await sharedDatabase()
  const wrong = subscribers(entry('https://10.0.0.1/hook'))
  const { code, output } = await startAndFail(settingsFor(url, wrong.path, { WEBHOOKS_ALLOW_PRIVATE: 'false' }), {
    project,
  })
  assert.is(code, 1)
  assert.match(output, /^WEBHOOKS_FILE cannot be used: subscriber "erp": its url has a private address/m)
  assert.not.match(output, /whsec_/)
})

test('a name whose address is private is a failed attempt, which is logged once', async () => {
  const { url } = await sharedDatabase()
  const file = subscribers(entry('https://localhost:9/hook'))
  const service = await startProcess(settingsFor(url, file.path, { WEBHOOKS_ALLOW_PRIVATE: 'false' }), { project })
  await createLeave(service, 'first')
  const failures = () => service.messages().filter((message) => message.includes('is a private address'))
  await until(() => failures().length > 0)
  assert.match(failures()[0] as string, /^The subscriber "erp" cannot be told of leave, which is tried again: /)
  await service.end('SIGTERM')
  assert.is(failures().length, 1)
})

test('a service within a program delivers, with or without a port', async () => {
  const { url } = await sharedDatabase()
  const receiver = await startReceiver()
  const { path } = subscribers(entry(receiver.url))
  const service = await createService({ folder: project, settings: settingsFor(url, path.slice(project.length + 1)) })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = '{"leave_type":"Annual","reason":"within"}'
  const request = new Request('http://office.test/api/v1/leave', { method: 'POST', headers, body })
  assert.is((await service.fetch(request)).status, 201)
  await receiver.count(1)
  assert.equal(receiver.received.map(reasons), [['within']])
  await service.close()
})

test.run()
