/** The build: made when the sources have changed and only then, whole or not at all, and never taken from a running process. */
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
import { folders } from '../product.js'
import { temporaryFolder } from '../support/cleanup.js'

const root = dirname(folders.seeds)

/** A small project with the build scripts of this one; its server prints what its modules export. */
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
  // Prints the first value, and the second when a line comes in: a process that imports lazily.
  write(
    'server.ts',
    `declare const process: any, console: any
import { first } from './parts/first.js'
console.log(first)
if (process.argv.includes('--wait')) await new Promise((resolve) => process.stdin.once('data', resolve))
console.log((await import('./parts/second.js')).second)
process.exit()
`,
  )
  write('parts/first.ts', 'export const first: string = "one"')
  write('parts/second.ts', 'export const second: string = "two"')
  const withCompiler = () => symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  withCompiler()
  const start = (args: readonly string[] = ['scripts/run.mjs', 'server']) => {
    const child = spawn(process.execPath, args, { cwd: path })
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
    return { child, ended: ended.then(([[code], stdout, stderr]) => ({ code, stdout, stderr })) }
  }
  const builds = () => readdirSync(join(path, 'dist')).filter((name) => /^[0-9a-f]{12}$/.test(name))
  return { path, write, start, run: (args?: readonly string[]) => start(args).ended, builds, withCompiler }
}

const test = suite('the build')

test('it is made at the first start, said so, and used again while the sources are the same', async () => {
  const { run, builds } = newProject()
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: 'Building …\n' })
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  assert.equal(await run(['dist/server.js']), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  assert.is(builds().length, 1)
})

test('a changed source is in the next build, whatever its time says, and a removed one is not', async () => {
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
  test(`a process started by ${entry.join(' ')} keeps its build while others are made and old ones removed`, async () => {
    const { path, write, start, run, builds } = newProject()
    await run()
    const [old] = builds()
    const { child, ended } = start([...entry, '--wait'])
    await once(child.stdout, 'readable')
    write('parts/second.ts', 'export const second: string = "newer"')
    await run()
    // The old build is old enough to be removed, and another build is made, which removes what is not in use.
    utimesSync(join(path, 'dist', old as string), 1, 1)
    write('parts/second.ts', 'export const second: string = "newest"')
    assert.match((await run()).stdout, /newest/)
    child.stdin.write('go on\n')
    assert.is((await ended).stdout, 'one\ntwo\n')
    // Nobody uses it any more.
    utimesSync(join(path, 'dist', old as string), 1, 1)
    write('parts/second.ts', 'export const second: string = "last"')
    await run()
    assert.not.ok(builds().includes(old as string))
  })
}

test('starts at the same time do not disturb one another', async () => {
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

test('without TypeScript the last build is used, with a warning where the sources differ', async () => {
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

test('a build alone is enough: no sources, no TypeScript', async () => {
  const { path, run } = newProject()
  await run()
  for (const name of ['node_modules', 'tsconfig.json', 'server.ts', 'parts']) {
    rmSync(join(path, name), { recursive: true })
  }
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
})

test('without TypeScript and without a build there is one clear line', async () => {
  const { path, run } = newProject()
  rmSync(join(path, 'node_modules'))
  const { code, stdout, stderr } = await run()
  assert.is(code, 1)
  assert.is(stdout, '')
  assert.match(stderr, /^There is no build in dist\/, and TypeScript is not installed\. [^\n]+\n$/)
})

test('sources that cannot be compiled end the start with the compiler’s message, and the last build stays', async () => {
  const { path, write, run, builds } = newProject()
  await run()
  const [sound] = builds()
  write('parts/second.ts', 'export const second: string = ')
  const { code, stdout, stderr } = await run()
  assert.is(code, 1)
  assert.is(stdout, '')
  assert.match(stderr, /^Building …\nThe build failed:\nparts\/second\.ts\(1,\d+\): error /)
  assert.equal(builds(), [sound])
  assert.is(readFileSync(join(path, 'dist/current'), 'utf8'), sound)
})

test.run()
