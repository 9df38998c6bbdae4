/** The package that `npm pack` makes, in a project of its own: what it contains, and that everything works in it. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commands } from '../../cli/commands.js'
import { spawnChild, temporaryFolder } from '../../support/cleanup.js'
import { root } from '../../support/root.js'

const { path } = temporaryFolder('package')
const folder = join(path, 'A folder')
const modules = join(folder, 'node_modules')
const installed = join(modules, 'resource-registry-engine')
const main = join(installed, 'dist', 'package', 'cli', 'main.js')

// The user of a test run may have no folder for the cache.
execFileSync('npm', ['pack', '--cache', join(path, 'cache'), '--pack-destination', path], {
  cwd: root,
  stdio: 'ignore',
})
const tarball = join(path, readdirSync(path).find((name) => name.endsWith('.tgz')) ?? '')
mkdirSync(installed, { recursive: true })
execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1'])
writeFileSync(join(folder, 'package.json'), '{ "dependencies": { "resource-registry-engine": "file:../engine.tgz" } }')
// As an installation puts them beside it; .ci/run installs the package for real.
for (const name of readdirSync(join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
  symlinkSync(join(root, 'node_modules', name), join(modules, name))

const files = readdirSync(installed, { recursive: true, encoding: 'utf8', withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(installed.length + 1))
const shop = join(folder, 'shop')
/** The project of one resource, which the tests of types and programs change. */
const project = join(folder, 'tasks')

/** Runs a command of the package in a folder. */
const run = async (cwd: string, ...args: string[]) => {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [ended, stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { status: ended[0] as number | null, stdout, stderr }
}

const test = suite('the package')

test('it has compiled files with source maps, declarations of what projects import, and no example', () => {
  const { exports, bin, types } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.is(types, undefined)
  for (const file of [...Object.values(exports['.']), exports['./tsconfig.json'], bin['resource-registry']])
    assert.ok(existsSync(join(installed, file as string)), String(file))
  assert.ok(files.includes('LICENSE'))
  const sources = files.filter((file) => file.endsWith('.js') && !file.includes('/assets/'))
  for (const file of sources) assert.ok(files.includes(`${file}.map`), file)
  const others = files.filter(
    (file) => !/^(?:dist\/package|docs|deploy|templates)\/|^[A-Z]\w+(?:\.md)?$|^\w+\.(?:json|yaml)$/.test(file),
  )
  assert.equal(others, [])
  const tests = files.filter((file) =>
    /(?<!\/derived)\/[^/]+\.test\.js$|\/(?:office|kitchenSink|bench|stress|example)(?:\/|\.js)/.test(file),
  )
  assert.equal(tests, [])
})

test('every relative link of its pages leads to a file of the package', () => {
  const pages = files.filter((file) => file.endsWith('.md'))
  assert.ok(pages.length > 10)
  for (const page of pages)
    for (const [, link = ''] of readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      assert.ok(files.includes(join(dirname(page), link)), `${page} links to ${link}`)
})

test('it imports only what it depends on', () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const known = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...builtinModules]
  for (const file of files.filter((one) => one.endsWith('.js') && !one.includes('/assets/'))) {
    const source = readFileSync(join(installed, file), 'utf8')
    const imports = /^(?:import|export) (?:.*? from )?'([^.'][^']*)'|\bimport\('([^.'][^']*)'\)/gm
    for (const [, named, lazy] of source.matchAll(imports)) {
      const from = (named ?? lazy) as string
      const name = from.startsWith('@') ? from.split('/').slice(0, 2).join('/') : (from.split('/')[0] ?? '')
      if (!name.startsWith('node:')) assert.ok(known.includes(name), `${file} imports ${from}`)
    }
  }
})

test('init makes a shop, by the command of the README, and a project of one resource', async () => {
  // As an installation links it.
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  mkdirSync(join(modules, '.bin'), { recursive: true })
  for (const [name, file] of Object.entries(bin)) symlinkSync(join(installed, file), join(modules, '.bin', name))
  chmodSync(main, 0o755)
  const [line = ''] = /^npx .* init shop$/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  const [program = '', ...args] = line.split(' ')
  const env = { ...process.env, npm_config_offline: 'true', npm_config_cache: join(path, 'cache') }
  execFileSync(program, args, { cwd: folder, env, stdio: 'ignore' })
  assert.is((await run(folder, 'init', 'tasks', '--bare')).status, 0)
  assert.ok(readFileSync(join(project, 'README.md'), 'utf8').trim().split('\n').length <= 12)
  for (const made of [shop, project]) {
    const ignored = readFileSync(join(made, '.gitignore'), 'utf8').split('\n')
    // What the commands of the documentation write: the database, and the digests of keys.
    for (const name of ['node_modules/', 'data/', 'keys.json']) assert.ok(ignored.includes(name), name)
    const manifest = JSON.parse(readFileSync(join(made, 'package.json'), 'utf8'))
    assert.is(manifest.dependencies['resource-registry-engine'], 'file:../../engine.tgz')
    assert.equal(
      Object.keys(manifest.scripts).sort(),
      [...Object.keys(commands).filter((name) => name !== 'init'), 'typecheck'].sort(),
    )
  }
  const again = await run(folder, 'init', 'shop')
  assert.equal(again, {
    status: 1,
    stdout: '',
    stderr: 'shop has a project already (package.json); nothing was written.\n',
  })
  const inFile = await run(folder, 'init', 'package.json')
  assert.is(inFile.status, 1)
  assert.match(inFile.stderr, /^Cannot make a project in .*package\.json \(ENOTDIR\); nothing was written\.\n$/)
})

test('a project that is made elsewhere depends on the file from which npm or npx has installed the engine', async () => {
  const elsewhere = join(path, 'elsewhere', 'deeper')
  mkdirSync(elsewhere, { recursive: true })
  assert.is((await run(elsewhere, 'init', 'shop', '--bare')).status, 0)
  const { dependencies } = JSON.parse(readFileSync(join(elsewhere, 'shop', 'package.json'), 'utf8'))
  assert.is(dependencies['resource-registry-engine'], 'file:../../../engine.tgz')
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), manifest.replace('file:../engine.tgz', '1.0.0'))
  assert.is((await run(elsewhere, 'init', 'other', '--bare')).status, 0)
  writeFileSync(join(folder, 'package.json'), manifest)
  const other = JSON.parse(readFileSync(join(elsewhere, 'other', 'package.json'), 'utf8'))
  assert.is(other.dependencies['resource-registry-engine'], '^1.0.0')
})

test('every command has its help, which names the command as it is called', async () => {
  const list = await run(project, '--help')
  assert.is(list.status, 0, list.stderr)
  for (const name of Object.keys(commands)) assert.match(list.stdout, new RegExp(`^ {2}${name} +[A-Z]`, 'm'))
  assert.equal(await run(project, '--version'), { status: 0, stdout: '1.0.0\n', stderr: '' })
  const help = await run(project, 'seed', '--help')
  assert.match(help.stdout, /^Usage: npx resource-registry-engine seed \[options\]\n/)
  const unknown = await run(project, 'strat')
  assert.equal(unknown, { status: 2, stdout: '', stderr: 'There is no command "strat". Did you mean start?\n' })
})

for (const [name, made] of Object.entries({ shop, tasks: project }))
  test(`the tests of ${name} pass`, async () => {
    const { status, stdout, stderr } = await run(made, 'test')
    assert.is(status, 0, `${stdout}${stderr}`)
    assert.match(stdout, /\n\d\d+ passed, 0 failed\n$/)
  })

const checkTypes = (cwd: string) =>
  execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], { cwd, encoding: 'utf8' })

test('types of the shop check', () => {
  checkTypes(shop)
})

test('types check, and a mistake is found', async () => {
  const check = () => checkTypes(project)
  mkdirSync(join(project, 'operations'))
  writeFileSync(
    join(project, 'operations', 'finish-task.ts'),
    `import { ApiError, defineOperation, z } from 'resource-registry-engine'
import tasks from '../resources/tasks.ts'

export default defineOperation({
  method: 'POST',
  path: '/v1/tasks/{task_id}/finish',
  about: 'Finishes a task.',
  response: z.object({ title: z.string(), done: z.boolean() }),
  async handle({ params, of }) {
    const task = await of(tasks).get(Number(params['task_id']))
    if (!task) throw new ApiError(404, 'not_found', 'There is no such task.')
    const title: string = task.title
    await of(tasks).update(task.id, { done: true })
    return { title, done: true }
  },
})
`,
  )
  writeFileSync(
    join(project, 'serve.ts'),
    `import { createService, type Service } from 'resource-registry-engine'

const settings = { DATABASE_URL: 'sqlite::memory:', API_TOKEN: 'demo-token-0123456789', LOG_LEVEL: 'silent' }
const service: Service = await createService({ folder: import.meta.dirname, settings })
const headers = { authorization: 'Bearer demo-token-0123456789' }
const finished = await service.fetch(new Request('http://x/api/v1/tasks/2/finish', { method: 'POST', headers }))
console.log(finished.status, await finished.text())
const list = (await (await service.fetch(new Request('http://x/api/v1/tasks?done=true'))).json()) as { meta: { total: number } }
console.log(list.meta.total)
await service.close()
`,
  )
  check()
  const resource = join(project, 'resources', 'tasks.ts')
  const before = readFileSync(resource, 'utf8')
  writeFileSync(resource, before.replace('sort: true', 'srot: true'))
  assert.throws(check, (error: { stdout: string }) => /'srot'/.test(error.stdout))
  const checked = await run(project, 'check')
  writeFileSync(resource, before)
  const message = 'field "title": unknown option "srot" of text(). Did you mean "sort"?'
  assert.ok(checked.stdout.startsWith(`resources/tasks.ts:9:33: ${message}\n`), checked.stdout)
})

test('a program serves the project and its operation', () => {
  // Without type stripping, Node runs the program only as JavaScript.
  writeFileSync(
    join(project, 'serve.mjs'),
    readFileSync(join(project, 'serve.ts'), 'utf8').replace(/, type Service|: Service| as \{.*\}/g, ''),
  )
  const output = execFileSync(process.execPath, ['serve.mjs'], { cwd: project, encoding: 'utf8' })
  assert.is(output, '200 {"title":"Add a resource","done":true}\n2\n')
})

test('it starts, and stops', async () => {
  const { PATH, HOME } = process.env
  const child = spawnChild(process.execPath, [main, 'start'], {
    cwd: project,
    env: { PATH, HOME, PORT: '0', WORKERS: '2' },
  })
  let output = ''
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const [, found] = /Ready at (http:\S+)\/api /.exec(output) ?? []
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(output)))
  })
  assert.is((await fetch(`${address}/api/v1/tasks`)).status, 200)
  child.removeAllListeners('exit')
  child.kill('SIGTERM')
  assert.equal(await once(child, 'exit'), [0, null])
  assert.ok(existsSync(join(project, 'data', 'registry.sqlite')))
})

test.run()
