/** The files for operators: the settings, ports, probes and commands that they name exist. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse, parseAllDocuments } from 'yaml'
import { readSettings, settingNames } from '../../engine/process/settings.js'
import { folders } from '../../product.js'
import { startFlags } from '../support/process.js'
import { startOffice } from '../support/service.js'

const root = dirname(folders.seeds)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const [, statefulSet] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS())
const [container] = statefulSet.spec.template.spec.containers
const valuesIn = (name: string): string[] =>
  [...read('deploy/resource-registry.service').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(
    ([, value = '']) => value,
  )

const service = await startOffice()
const test = suite('deploy')

/** Runs the health check of the image against a port; resolves with its exit code and output. */
const healthcheck = (env: Record<string, string>): Promise<[code: number | null, output: string]> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, ['scripts/healthcheck.mjs'], { cwd: root, env }, (_, stdout, stderr) =>
      resolve([child.exitCode, `${stdout}${stderr}`]),
    )
  })

test('the health check follows /readyz', async () => {
  const { port } = new URL(service.address)
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

/** The environments that the files give to the service; Compose replaces variables by their defaults. */
const environments: [file: string, environment: Record<string, string>][] = [
  // biome-ignore lint/suspicious/noExplicitAny: services of every shape
  ...Object.values<any>(parse(read('compose.yaml'), { merge: true }).services)
    .filter(({ build }) => build)
    .map(({ environment }): [string, Record<string, string>] => ['compose.yaml', environment]),
  ['systemd', Object.fromEntries(valuesIn('Environment').map((line) => line.split(/=(.*)/s).slice(0, 2)))],
  [
    'kubernetes',
    Object.fromEntries(container.env.map(({ name, value = 'x' }: Record<string, string>) => [name, value])),
  ],
]
for (const [file, environment] of environments) {
  test(`${file}: the settings are valid, without demo data`, () => {
    const values = Object.entries(environment).filter(([name]) => name !== 'NODE_ENV')
    for (const [name] of values) assert.ok(settingNames.includes(name), name)
    const filled = values.map(([name, value]) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')])
    assert.is(readSettings(Object.fromEntries(filled)).DEMO_DATA, false)
  })
}

test('the image and the unit run what npm start runs; the probes ask paths that respond', async () => {
  const command = ['node', ...startFlags, 'dist/server.js']
  assert.ok(read('Containerfile').includes(`CMD ${JSON.stringify(command).replaceAll(',', ', ')}`))
  assert.equal(valuesIn('ExecStart'), [`/usr/bin/${command.join(' ')}`])
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
    assert.is((await service.send(probe.httpGet.path)).status, 200)
})

test.run()
