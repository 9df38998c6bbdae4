/** The page about webhooks: its file and its receiver work as they are. */

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { spawnChild } from '../../support/cleanup.js'
import { root } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { officeFolder } from '../support/officeFiles.js'
import { startProcess } from '../support/process.js'
import { authorized, token } from '../support/service.js'
import { until } from '../support/until.js'

const page = readFileSync(join(root, 'docs', 'webhooks.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block]) => block as string)

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

const test = suite('page about webhooks')

test('the receiver of the page takes what a service sends with the file of the page, and nothing that is not signed', async () => {
  const project = temporaryProject(officeFolder)
  const leave = join(project, 'resources', 'leave.ts')
  writeFileSync(leave, readFileSync(leave, 'utf8').replace('  create: true,', '  create: true,\n  changes: true,'))
  const port = await freePort()
  const [entry] = JSON.parse(blocks('json')[0] as string) as { secret: string }[]
  const url = `http://127.0.0.1:${port}/hooks/registry`
  writeFileSync(join(project, 'webhooks.json'), JSON.stringify([{ ...entry, url }]))
  writeFileSync(join(project, 'receiver.mjs'), blocks('js')[0] as string)
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: entry?.secret as string }
  const receiver = spawnChild(process.execPath, ['receiver.mjs'], { cwd: project, env })
  let output = ''
  receiver.stdout?.on('data', (chunk) => {
    output += chunk
  })
  const post = () => fetch(url, { method: 'POST', body: '{"type":"leave.resync"}', headers: { 'webhook-id': 'msg_1' } })
  await until(async () => (await post().catch(() => undefined))?.status === 401)
  const settings = { API_TOKEN: token, WEBHOOKS_FILE: 'webhooks.json', WEBHOOKS_ALLOW_PRIVATE: 'true' }
  const service = await startProcess(settings, { project })
  const { status, body } = await service.create('leave', { leave_type: 'Annual' })
  assert.is(status, 201)
  await until(() => output.includes('leave.changed: 1 rows'))
  assert.is((await service.send(`/api/v1/leave/${body.id}`, { method: 'DELETE', headers: authorized })).status, 204)
  await until(() => output.includes('leave.changed: 0 rows'))
  assert.not.match(output, /Read the list/)
  await service.end('SIGTERM')
  receiver.kill('SIGTERM')
})

test.run()
