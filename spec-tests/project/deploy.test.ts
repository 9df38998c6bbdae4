/** The files for operators: the settings, ports, probes and commands that they name exist. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse, parseAllDocuments } from 'yaml'
import { commands } from '../../cli/commands.js'
import { readSettings, settingNames } from '../../engine/process/settings.js'
import { root } from '../../support/root.js'
import { startOffice } from '../support/office.js'
import { startFlags } from '../support/process.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The objects of a Kubernetes file, by kind. */
const objectsIn = (file: string) =>
  Object.fromEntries(parseAllDocuments(read(file)).map((document) => [document.toJS().kind, document.toJS()]))
const sqlite = objectsIn('deploy/kubernetes.yaml')
const postgres = objectsIn('deploy/kubernetes-postgres.yaml')
const workloads = [sqlite['StatefulSet'], postgres['Deployment']]
const containerOf = (workload: typeof sqlite) => workload['spec'].template.spec.containers[0]
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

/** What the cluster's secret has. */
const secrets: Record<string, string> = { DATABASE_URL: 'postgres://user@host/name' }

/** The environments that the files give to the service; Compose replaces variables by their defaults. */
const environments: [file: string, environment: Record<string, string>][] = [
  // biome-ignore lint/suspicious/noExplicitAny: services of every shape
  ...Object.values<any>(parse(read('compose.yaml'), { merge: true }).services)
    .filter(({ build }) => build)
    .map(({ environment }): [string, Record<string, string>] => ['compose.yaml', environment]),
  ['systemd', Object.fromEntries(valuesIn('Environment').map((line) => line.split(/=(.*)/s).slice(0, 2)))],
  ...workloads.map((workload): [string, Record<string, string>] => [
    `kubernetes ${workload.kind}`,
    Object.fromEntries(
      containerOf(workload).env.map(({ name, value = secrets[String(name)] ?? 'x' }: Record<string, string>) => [
        name,
        value,
      ]),
    ),
  ]),
]
for (const [file, environment] of environments) {
  test(`${file}: the settings are valid, without demo data`, () => {
    const values = Object.entries(environment).filter(([name]) => name !== 'NODE_ENV')
    for (const [name] of values) assert.ok(settingNames.includes(name), name)
    const filled = values.map(([name, value]) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')])
    // The file exists in the cluster only.
    const { DATABASE_PASSWORD_FILE: _, ...readable } = Object.fromEntries(filled)
    assert.is(readSettings(readable).DEMO_DATA, false)
  })
}

test('the image and the unit run what npm start runs; the probes ask paths that respond', async () => {
  const command = ['node', ...startFlags, 'dist/server.js']
  assert.ok(read('Containerfile').includes(`CMD ${JSON.stringify(command).replaceAll(',', ', ')}`))
  assert.equal(valuesIn('ExecStart'), [`/usr/bin/${command.join(' ')}`])
  for (const { startupProbe, livenessProbe, readinessProbe } of workloads.map(containerOf)) {
    for (const probe of [startupProbe, livenessProbe, readinessProbe])
      assert.is((await service.send(probe.httpGet.path)).status, 200)
  }
})

for (const [file, objects] of Object.entries({ sqlite, postgres })) {
  test(`kubernetes on ${file}: the Service has the API and the metrics, and the budget is one of its pods`, () => {
    const { Service, PodDisruptionBudget, StatefulSet, Deployment } = objects
    const workload = StatefulSet ?? Deployment
    const { labels } = workload.spec.template.metadata
    const { ports, env } = containerOf(workload)
    const ofContainer = Object.fromEntries(
      ports.map((port: { name: string; containerPort: number }) => [port.name, port]),
    )
    assert.equal(
      Service.spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
      ['http', 'metrics'],
    )
    const metricsPort = env.find(({ name }: { name: string }) => name === 'METRICS_PORT').value
    assert.is(String(ofContainer['metrics'].containerPort), metricsPort)
    for (const selector of [Service.spec.selector, PodDisruptionBudget.spec.selector.matchLabels])
      assert.equal(selector, labels)
    // A budget that keeps every pod would block the drain of a node.
    const { minAvailable, maxUnavailable } = PodDisruptionBudget.spec
    assert.ok(maxUnavailable >= 1 || minAvailable < workload.spec.replicas)
  })
}

test('kubernetes on postgres: the Job migrates the database of the pods, whose password is in a file', () => {
  const [job, pods] = [postgres['Job'], postgres['Deployment']].map(({ spec }) => spec.template.spec)
  const [node, script, command] = job.containers[0].command
  assert.equal([node, script], ['node', 'scripts/run.mjs'])
  assert.ok(Object.hasOwn(commands, command), command)
  const database = ({ containers, volumes }: typeof job) => {
    const { env, volumeMounts, image } = containers[0]
    const named = env.filter(({ name }: { name: string }) => name.startsWith('DATABASE_'))
    return { image, named, mounts: volumeMounts, volumes }
  }
  assert.equal(database(job), database(pods))
  const { named, mounts, volumes } = database(pods)
  const { value: path } = named.find(({ name }: { name: string }) => name === 'DATABASE_PASSWORD_FILE')
  const mount = mounts.find(({ mountPath }: { mountPath: string }) => dirname(path) === mountPath)
  const { secret } = volumes.find(({ name }: { name: string }) => name === mount.name)
  assert.is(secret.items[0].path, basename(path))
})

test.run()
