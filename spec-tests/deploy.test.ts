/** The files for operators: every file, command, setting, port and path that they name exists. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse, parseAllDocuments } from 'yaml'
import { readSettings, settingNames } from '../engine/settings.js'
import { folders, product } from '../product.js'
import { type Stage, stagesOf } from '../stress/containerSteps.js'
import { temporaryFolder } from '../support/cleanup.js'
import { startFlags } from '../support/process.js'
import { startService } from './support/service.js'

const root = dirname(folders.seeds)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const defaults = readSettings({})
const drainSeconds = defaults.DRAIN_TIMEOUT_MS / 1000
const isSetting = (name: string): boolean => settingNames.includes(name) || name === 'NODE_ENV'

const containerfile = read('Containerfile')
const stages = stagesOf(containerfile)
const image = stages.at(-1) as Stage
const copies = stages.flatMap(({ steps }) => steps.flatMap((step) => (step.kind === 'copy' ? [step] : [])))
const ownFiles = [...new Set(copies.flatMap(({ from, sources }) => (from === undefined ? sources : [])))].sort()

const test = suite('deploy')

test('the Containerfile has no lint', () => {
  assert.equal(validate(containerfile), [])
})

test('an instruction that the check cannot carry out is an error', () => {
  assert.throws(() => stagesOf('FROM node\nADD a b'), /^ADD is not supported/)
  assert.throws(() => stagesOf('FROM node\nCOPY --chmod=755 a b'), /^COPY has an unknown option/)
  assert.throws(() => stagesOf('FROM node\nHEALTHCHECK NONE'), /^HEALTHCHECK has no CMD/)
  assert.throws(() => stagesOf('RUN true'), /^RUN stands before the first FROM/)
})

test('the Containerfile copies files that exist, and .dockerignore lets only these through', () => {
  for (const file of ownFiles) assert.ok(existsSync(join(root, file)), file)
  const [, everything, ...admitted] = read('.dockerignore').trim().split('\n')
  assert.is(everything, '*')
  assert.equal(admitted.map((line) => line.replace(/^!/, '')).sort(), ownFiles)
})

test('the image copies from stages before it, and only what these have', () => {
  for (const { from, sources } of copies) {
    if (from === undefined) continue
    const stage = stages.find(({ name }) => name === from) as Stage
    assert.ok(stages.indexOf(stage) < stages.indexOf(image))
    const made = stage.steps.map((step) => (step.kind === 'run' ? step.command : '')).join('\n')
    const makers = { node_modules: 'npm ci', dist: 'npm run build', data: 'mkdir data' }
    for (const source of sources) {
      assert.is(dirname(source), stage.workdir)
      assert.ok(made.includes(makers[basename(source) as keyof typeof makers]), source)
    }
  }
})

test('the image runs what npm start runs, without privileges, on the default port', () => {
  assert.equal(image.command, ['node', ...startFlags, 'dist/server.js'])
  assert.match(image.user ?? '', /^[1-9]\d*:[1-9]\d*$/)
  assert.equal(image.ports, [String(defaults.PORT)])
  for (const name of Object.keys(image.env)) assert.ok(isSetting(name), name)
  assert.is(readSettings(image.env).HOST, '0.0.0.0')
})

test('the volume of the image is the folder of the default database, and belongs to its user', () => {
  const folder = dirname(defaults.DATABASE_URL.replace('sqlite:', ''))
  assert.equal(image.volumes, [join(image.workdir, folder)])
  assert.ok(copies.some(({ target, owner }) => target === folder && owner === image.user))
})

test('the base images have one version and one Debian release, and Node is new enough', () => {
  const [build, slim] = stages.map((stage) => /^node:(\d+)-(\w+)(-slim)?$/.exec(stage.image) ?? [])
  assert.equal(slim?.slice(1), [...(build?.slice(1, 3) ?? []), '-slim'])
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  assert.ok(Number(build?.[1]) >= Number(/\d+/.exec(engines.node)?.[0]))
})

/** Runs the health check against a port; resolves with its exit code and output. */
const healthcheck = (env: Record<string, string>): Promise<[code: number | null, output: string]> => {
  const [program = '', ...args] = image.healthcheck
  assert.is(program, 'node')
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: root, env }, (_, stdout, stderr) =>
      resolve([child.exitCode, `${stdout}${stderr}`]),
    )
  })
}

test('the health check follows /readyz', async () => {
  const { address } = await startService()
  const { port } = new URL(address)
  assert.equal(await healthcheck({ PORT: port }), [0, '{"status":"ok"}\n'])
  assert.equal(await healthcheck({ PORT: port, HOST: '0.0.0.0' }), [0, '{"status":"ok"}\n'])
  const paths: (string | undefined)[] = []
  const failing = createServer((request, response) => {
    paths.push(request.url)
    response.writeHead(503).end('{"error":{}}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => failing.once('listening', resolve))
  const PORT = String((failing.address() as AddressInfo).port)
  assert.equal(await healthcheck({ PORT }), [1, '{"error":{}}\n'])
  assert.equal(paths, ['/readyz'])
  failing.closeAllConnections()
  await new Promise((resolve) => failing.close(resolve))
  const [code, output] = await healthcheck({ PORT })
  assert.is(code, 1)
  assert.match(output, /^The service does not respond: connect ECONNREFUSED/)
})

interface ComposeService {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly profiles?: string[]
  readonly depends_on?: Record<string, { condition: string }>
  readonly environment: Record<string, string>
  readonly ports?: string[]
  readonly volumes?: string[]
  readonly healthcheck?: object
  readonly read_only?: boolean
  readonly cap_drop?: string[]
  readonly stop_grace_period?: string
}
const compose = parse(read('compose.yaml'), { merge: true }) as {
  services: Record<string, ComposeService>
  volumes: Record<string, null>
}
const composed = Object.entries(compose.services)
const composedService = (name: string): ComposeService => compose.services[name] as ComposeService

/** A value with the defaults of its variables, as Compose replaces them if none is set. */
const interpolated = (value: string): string => value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')

test('compose: without a profile there is one service, on SQLite', () => {
  const active = composed.filter(([, { profiles }]) => profiles === undefined)
  assert.equal(
    active.map(([name]) => name),
    ['api'],
  )
  assert.not.ok('DATABASE_URL' in composedService('api').environment)
  assert.equal(composedService('api').volumes, [`data:${image.volumes[0]}`])
})

for (const [name, service] of composed.filter(([, { build }]) => build !== undefined)) {
  test(`compose: ${name} runs the image with settings that are valid, and cannot write into it`, () => {
    assert.equal(service.build, { context: '.', dockerfile: 'Containerfile' })
    for (const setting of Object.keys(service.environment)) assert.ok(settingNames.includes(setting), setting)
    readSettings(
      Object.fromEntries(Object.entries(service.environment).map(([key, value]) => [key, interpolated(value)])),
    )
    assert.match(service.ports?.[0] ?? '', new RegExp(`^127\\.0\\.0\\.1:\\d+:${image.ports[0]}$`))
    assert.is(service.read_only, true)
    assert.equal(service.cap_drop, ['ALL'])
    assert.ok(Number.parseInt(service.stop_grace_period ?? '', 10) > drainSeconds)
  })
}

test('compose: volumes are declared, dependencies have a health check and the same profile', () => {
  for (const [, { volumes = [], depends_on = {}, profiles }] of composed) {
    for (const volume of volumes) assert.ok((volume.split(':')[0] as string) in compose.volumes, volume)
    for (const [name, { condition }] of Object.entries(depends_on)) {
      assert.is(condition, 'service_healthy')
      assert.ok(composedService(name).healthcheck)
      assert.equal(composedService(name).profiles, profiles)
    }
  }
})

test('compose: the service on PostgreSQL has the user, the password and the database of the server', () => {
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = composedService('postgres').environment
  assert.is(
    composedService('api-postgres').environment['DATABASE_URL'],
    `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`,
  )
})

const unitPath = 'deploy/resource-registry.service'
const unit = read(unitPath)
const valuesOf = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, v]) => v as string)

test('the unit runs what npm start runs, with settings that are valid', () => {
  assert.equal(valuesOf('ExecStart'), [`/usr/bin/${image.command.join(' ')}`])
  assert.equal(valuesOf('Description'), [product.name])
  const environment = Object.fromEntries(valuesOf('Environment').map((line) => line.split(/=(.*)/s).slice(0, 2)))
  for (const name of Object.keys(environment)) assert.ok(isSetting(name), name)
  const state = `sqlite:/var/lib/${valuesOf('StateDirectory')[0]}/`
  assert.ok(readSettings(environment).DATABASE_URL.startsWith(state))
  assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > drainSeconds)
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd) console.log('systemd-analyze is not installed; the test of the unit is skipped.')

;(hasSystemd ? test : test.skip)('systemd accepts the unit', () => {
  const { path } = temporaryFolder('unit')
  const file = join(path, basename(unitPath))
  // Node may be elsewhere on this machine.
  writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  assert.equal([status, stderr], [0, ''])
})

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface Container {
  readonly env: {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
  }[]
  readonly ports: { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly securityContext: object
  readonly volumeMounts: { readonly name: string; readonly mountPath: string }[]
}
const [k8sService, statefulSet] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => {
  assert.equal(document.errors, [])
  return document.toJS()
})
const pod = statefulSet.spec.template.spec
const container = pod.containers[0] as Container

test('kubernetes: the service and the set select the pods', () => {
  const { labels } = statefulSet.spec.template.metadata
  assert.equal(k8sService.spec.selector, labels)
  assert.equal(statefulSet.spec.selector.matchLabels, labels)
  assert.is(statefulSet.spec.serviceName, k8sService.metadata.name)
  const names = container.ports.map(({ name }) => name)
  for (const { targetPort } of k8sService.spec.ports) assert.ok(names.includes(targetPort))
})

test('kubernetes: each probe asks a path that responds, on the port of the image', async () => {
  const { send } = await startService()
  const { startupProbe, livenessProbe, readinessProbe } = container
  assert.equal(
    [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path),
    ['/livez', '/livez', '/readyz'],
  )
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
    assert.is((await send(httpGet.path)).status, 200)
    const port = container.ports.find(({ name }) => name === httpGet.port)
    assert.is(String(port?.containerPort), image.ports[0])
  }
})

test('kubernetes: the settings are valid, and the metrics port is the one it names', () => {
  for (const { name } of container.env) assert.ok(settingNames.includes(name), name)
  const settings = readSettings(Object.fromEntries(container.env.map(({ name, value = 'x' }) => [name, value])))
  assert.is(settings.METRICS_PORT, container.ports.find(({ name }) => name === 'metrics')?.containerPort)
})

test('kubernetes: the user is that of the image, the root is read-only, and volumes are mounted where it writes', () => {
  const { runAsNonRoot, runAsUser, runAsGroup, fsGroup } = pod.securityContext
  assert.equal([runAsNonRoot, `${runAsUser}:${runAsGroup}`, fsGroup], [true, image.user, runAsGroup])
  assert.equal(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const volumes = [
    ...pod.volumes,
    ...statefulSet.spec.volumeClaimTemplates.map((claim: { metadata: object }) => claim.metadata),
  ]
  const names = volumes.map(({ name }: { name: string }) => name)
  for (const { name } of container.volumeMounts) assert.ok(names.includes(name), name)
  assert.is(container.volumeMounts.find(({ name }) => name === 'data')?.mountPath, image.volumes[0])
})

test('kubernetes: a pod that stops serves on for a while, and the grace period is longer than delay and drain', () => {
  const delay = Number(container.env.find(({ name }) => name === 'DRAIN_DELAY_MS')?.value) / 1000
  assert.ok(delay > 0)
  assert.ok(pod.terminationGracePeriodSeconds > delay + drainSeconds)
})

test('docs/deploying.md installs what the image has, and names services, objects and commands that exist', () => {
  const page = read('docs/deploying.md')
  const installed = /cp --recursive (.+) \/opt\//.exec(page)?.[1]?.split(' ') ?? []
  const inImage = image.steps.flatMap((step) =>
    step.kind === 'copy' ? step.sources.map((path) => basename(path)) : [],
  )
  assert.equal(installed.sort(), inImage.filter((name) => !['LICENSE', 'data'].includes(name)).sort())
  const commands = [...page.matchAll(/node scripts\/run\.mjs (\S+)/g)].map(([, name]) => name as string)
  assert.is(commands.length, 2)
  for (const name of commands) assert.ok(existsSync(join(root, `${name}.ts`)), name)
  const [, profile = '', service = ''] = /--profile (\S+) up .*?(\S+)$/m.exec(page) ?? []
  assert.equal(composedService(service).profiles, [profile])
  assert.ok(page.includes(`rollout status statefulset/${statefulSet.metadata.name}`))
  assert.ok(
    page.includes(
      `port-forward service/${k8sService.metadata.name} ${image.ports[0]}:${k8sService.spec.ports[0].port}`,
    ),
  )
  const { secretKeyRef } = container.env.find(({ name }) => name === 'API_TOKEN')?.valueFrom ?? {}
  assert.ok(page.includes(`secret generic ${secretKeyRef?.name} --from-literal=${secretKeyRef?.key}=`))
})

test.run()
