/** The build: runs only when sources have changed, is complete or absent, and stays while a process uses it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { copyCompressedDocs } from '../support/compressedDocs.js'

const root = dirname(folders.seeds)

/** A small project with this project's build scripts; its server prints the exports of its modules. */
const newProject = () => {
  const { path } = temporaryFolder('build')
  const write = (name: string, source: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), source)
  }
  cpSync(join(root, 'scripts'), join(path, 'scripts'), { recursive: true })
  write('package.json', '{ "type": "module" }')
  write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: { module: 'nodenext', target: 'es2023', types: [], rootDir: '.' },
      include: ['server.ts', 'parts'],
    }),
  )
  // With --wait it imports the second module only after a line on standard input.
  write(
    'server.ts',
    `declare const process: any, console: any
import { first } from '../parts/first.js'
console.log(first)
if (process.argv.includes('--wait')) await new Promise((resolve) => process.stdin.once('data', resolve))
console.log((await import('./parts/second.js')).second)
process.exit()
`,
  )
  write('parts/first.ts', 'export const first: string = "one"')
  write('parts/second.ts', 'export const second: string = "two"')
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  copyCompressedDocs(path)
  const start = (args: readonly string[] = ['scripts/run.mjs', 'server'], environment = {}) => {
    const child = spawn(process.execPath, args, { cwd: path, env: { ...process.env, ...environment } })
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
    return { child, ended: ended.then(([[code], stdout, stderr]) => ({ code, stdout, stderr })) }
  }
  const builds = () => readdirSync(join(path, 'dist')).filter((name) => /^[0-9a-f]{12}$/.test(name))
  return {
    path,
    write,
    start,
    run: (args?: readonly string[], environment = {}) => start(args, environment).ended,
    builds,
  }
}

const test = suite('the build')

test('the first start builds and says so; later starts reuse the build while the sources are the same', async () => {
  const { run, builds } = newProject()
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: 'Building …\n' })
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  assert.equal(await run(['dist/server.js']), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  assert.is(builds().length, 1)
})

test('files that are served as they are belong to the build', async () => {
  const { path, write, run } = newProject()
  const built = (name: string) => {
    const current = readFileSync(join(path, 'dist/current'), 'utf8')
    return readFileSync(join(path, 'dist', current, name), 'utf8')
  }
  write('parts/assets/page.css', 'a {}')
  await run()
  assert.is(built('parts/assets/page.css'), 'a {}')
  write('parts/assets/page.css', 'b {}')
  assert.match((await run()).stderr, /Building/)
  assert.is(built('parts/assets/page.css'), 'b {}')
})

test('a changed source is rebuilt whatever its modification time, and a removed one disappears', async () => {
  const { path, write, run } = newProject()
  write('parts/third.ts', 'export const third = 3')
  await run()
  write('parts/second.ts', 'export const second: string = "changed"')
  utimesSync(join(path, 'parts/second.ts'), 1, 1)
  rmSync(join(path, 'parts/third.ts'))
  assert.equal(await run(), { code: 0, stdout: 'one\nchanged\n', stderr: 'Building …\n' })
  const current = join(path, 'dist', readFileSync(join(path, 'dist/current'), 'utf8'))
  assert.ok(existsSync(join(current, 'parts/first.js')))
  assert.not.ok(existsSync(join(current, 'parts/third.js')))
})

for (const entry of [['scripts/run.mjs', 'server'], ['dist/server.js']] as const) {
  test(`a process started by ${entry.join(' ')} keeps its build while newer builds are created and old ones removed`, async () => {
    const { path, write, start, run, builds } = newProject()
    await run()
    const [old] = builds()
    const { child, ended } = start([...entry, '--wait'])
    await once(child.stdout, 'readable')
    write('parts/second.ts', 'export const second: string = "newer"')
    await run()
    // The first build is now old enough to be removed by the next build, if it is not in use.
    utimesSync(join(path, 'dist', old as string), 1, 1)
    write('parts/second.ts', 'export const second: string = "newest"')
    assert.match((await run()).stdout, /newest/)
    child.stdin.write('continue\n')
    assert.is((await ended).stdout, 'one\ntwo\n')
    // The process has ended, so the next build may remove it.
    utimesSync(join(path, 'dist', old as string), 1, 1)
    write('parts/second.ts', 'export const second: string = "last"')
    await run()
    assert.not.ok(builds().includes(old as string))
  })
}

test('concurrent starts do not interfere', async () => {
  const { path, run } = newProject()
  const results = await Promise.all([run(), run(), run()])
  for (const { code, stdout } of results) {
    assert.is(code, 0)
    assert.is(stdout, 'one\ntwo\n')
  }
  assert.equal(
    readdirSync(join(path, 'dist')).filter((name) => name.startsWith('unfinished')),
    [],
  )
})

test('without TypeScript the last build is used, with a warning if the sources differ', async () => {
  const { path, write, run } = newProject()
  await run()
  rmSync(join(path, 'node_modules'))
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  write('parts/second.ts', 'export const second: string = "newer"')
  const { code, stdout, stderr } = await run()
  assert.is(code, 0)
  assert.is(stdout, 'one\ntwo\n')
  assert.match(stderr, /^The sources differ from the build in dist\/, and TypeScript is not installed: [^\n]+\n$/)
})

test('a build starts without sources and without TypeScript', async () => {
  const { path, run } = newProject()
  await run()
  for (const name of ['node_modules', 'tsconfig.json', 'server.ts', 'parts']) {
    rmSync(join(path, name), { recursive: true })
  }
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
})

test('without TypeScript and without a build, one line explains it', async () => {
  const { path, run } = newProject()
  rmSync(join(path, 'node_modules'))
  const { code, stdout, stderr } = await run()
  assert.is(code, 1)
  assert.is(stdout, '')
  assert.match(stderr, /^There is no build in dist\/, and TypeScript is not installed\. Run npm ci to [^\n]+\n$/)
  assert.match((await run(undefined, { NODE_ENV: 'production' })).stderr, /Run npm ci --include=dev to /)
})

test('a missing package stops the start with the advice to install again', async () => {
  const { write, run } = newProject()
  write('parts/first.ts', "import 'package-that-is-missing'\nexport const first: string = 'one'")
  const { code, stderr } = await run()
  assert.is(code, 1)
  assert.match(
    stderr,
    /^Building …\nThe installation is incomplete: run npm ci again\. \(Cannot find package [^\n]+\n$/,
  )
})

test('a process that npm started stops when the shell between them ends', async () => {
  const { path, run } = newProject()
  await run()
  const script = `${process.execPath} scripts/run.mjs server --wait & echo $!; sleep 1; exit`
  const shell = spawn('sh', ['-c', script], { cwd: path, env: { ...process.env, npm_lifecycle_event: 'start' } })
  // The output ends when the process does.
  assert.match(await text(shell.stdout), /^\d+\none\n$/)
})

test('a compile error stops the start with the compiler’s message, and the last build stays', async () => {
  const { path, write, run, builds } = newProject()
  await run()
  const [previous] = builds()
  write('parts/second.ts', 'export const second: string = ')
  const { code, stdout, stderr } = await run()
  assert.is(code, 1)
  assert.is(stdout, '')
  assert.match(stderr, /^Building …\nThe build failed:\n\nparts\/second\.ts:1:\d+ - error /)
  assert.equal(builds(), [previous])
  assert.is(readFileSync(join(path, 'dist/current'), 'utf8'), previous)
})

test.run()
