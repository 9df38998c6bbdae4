/** The files for operators: the settings, ports, probes and commands that they name exist. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse, parseAllDocuments } from 'yaml'
import { readSettings, settingNames } from '../../engine/process/settings.js'
import { folders } from '../../product.js'
import { startFlags } from '../support/process.js'
import { startService } from '../support/service.js'

const root = dirname(folders.seeds)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const drainSeconds = readSettings({}).DRAIN_TIMEOUT_MS / 1000
const startCommand = ['node', ...startFlags, 'dist/server.js']

const test = suite('deploy')

test('the image copies files that exist, and runs what npm start runs without privileges', () => {
  const containerfile = read('Containerfile')
  const copied = [...containerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
    String(names).split(' '),
  )
  assert.ok(copied.length > 0)
  for (const name of copied) assert.ok(existsSync(join(root, name)), name)
  assert.ok(containerfile.includes(`CMD ${JSON.stringify(startCommand).replaceAll(',', ', ')}`))
  assert.match(containerfile, /^USER [1-9]\d*:[1-9]\d*$/m)
})

/** Runs the health check of the image against a port; resolves with its exit code and output. */
const healthcheck = (env: Record<string, string>): Promise<[code: number | null, output: string]> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, ['scripts/healthcheck.mjs'], { cwd: root, env }, (_, stdout, stderr) =>
      resolve([child.exitCode, `${stdout}${stderr}`]),
    )
  })

test('the health check follows /readyz', async () => {
  const { port } = new URL((await startService()).address)
  assert.equal(await healthcheck({ PORT: port, HOST: '0.0.0.0' }), [0, '{"status":"ok"}\n'])
  const failing = createServer((_, response) => response.writeHead(503).end('{"error":{}}')).listen(0, '127.0.0.1')
  await new Promise((resolve) => failing.once('listening', resolve))
  const PORT = String((failing.address() as AddressInfo).port)
  assert.equal(await healthcheck({ PORT }), [1, '{"error":{}}\n'])
  failing.closeAllConnections()
  await new Promise((resolve) => failing.close(resolve))
  const [code, output] = await healthcheck({ PORT })
  assert.is(code, 1)
  assert.match(output, /^The service does not respond: connect ECONNREFUSED/)
})

/** A value with the defaults of its variables, as Compose replaces them if none is set. */
const interpolated = (value: string): string => value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')

interface ComposeService {
  readonly build?: object
  readonly environment: Record<string, string>
}

test('compose: the settings are valid, without demo data', () => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as { services: Record<string, ComposeService> }
  const built = Object.values(services).filter(({ build }) => build !== undefined)
  assert.ok(built.length > 0)
  for (const { environment } of built) {
    for (const name of Object.keys(environment)) assert.ok(settingNames.includes(name), name)
    const values = Object.entries(environment).map(([key, value]) => [key, interpolated(value)])
    assert.is(readSettings(Object.fromEntries(values)).DEMO_DATA, false)
  }
})

test('systemd: the unit runs what npm start runs, with valid settings, and has time to drain', () => {
  const unit = read('deploy/resource-registry.service')
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => String(value))
  assert.equal(valuesOf('ExecStart'), [`/usr/bin/${startCommand.join(' ')}`])
  const environment = Object.fromEntries(valuesOf('Environment').map((line) => line.split(/=(.*)/s).slice(0, 2)))
  for (const name of Object.keys(environment)) assert.ok(settingNames.includes(name) || name === 'NODE_ENV', name)
  assert.is(readSettings(environment).DEMO_DATA, false)
  assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > drainSeconds)
})

test('kubernetes: the settings are valid, the probes ask paths that respond, and a pod has time to drain', async () => {
  const [, statefulSet] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS())
  const pod = statefulSet.spec.template.spec
  const [container] = pod.containers
  const values: [string, string][] = container.env.map(({ name, value = 'x' }: { name: string; value?: string }) => [
    name,
    value,
  ])
  for (const [name] of values) assert.ok(settingNames.includes(name), name)
  const settings = readSettings(Object.fromEntries(values))
  assert.is(settings.DEMO_DATA, false)
  assert.ok(pod.terminationGracePeriodSeconds > settings.DRAIN_DELAY_MS / 1000 + drainSeconds)
  const { send } = await startService()
  for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    assert.is((await send(container[name].httpGet.path)).status, 200, name)
})

test.run()
