/** The build: runs only when sources have changed, is complete or absent, and stays for the processes that started from it. */
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
import { temporaryFolder } from '../../support/cleanup.js'
import { root } from '../../support/root.js'

/** A small project with this project's build scripts; its command prints the exports of its modules. */
const { path } = temporaryFolder('build')
const write = (name: string, source: string) => {
  mkdirSync(dirname(join(path, name)), { recursive: true })
  writeFileSync(join(path, name), source)
}
const read = (name: string) => readFileSync(join(path, name), 'utf8')
cpSync(join(root, 'scripts'), join(path, 'scripts'), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
const compilerOptions = { module: 'nodenext', target: 'es2023', types: [], rootDir: '.' }
write('package.json', '{ "type": "module" }')
write('tsconfig.build.json', JSON.stringify({ compilerOptions, include: ['cli', 'engine'] }))
// With --wait it imports the second module only after a line on standard input.
write(
  'cli/main.ts',
  `declare const process: any, console: any
import { first } from '../engine/first.js'
console.log(first)
if (process.argv.includes('--wait')) await new Promise((resolve) => process.stdin.once('data', resolve))
console.log((await import('../engine/second.js')).second)
process.exit()
`,
)
const writeSecond = (text: string) => write('engine/second.ts', `export const second: string = "${text}"`)
write('engine/first.ts', 'export const first: string = "one"')
writeSecond('two')

const start = (...args: readonly string[]) => {
  const child = spawn(process.execPath, args, { cwd: path })
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { child, ended: ended.then(([[code], stdout, stderr]) => ({ code, stdout, stderr })) }
}
const run = () => start('scripts/run.mjs', 'start').ended
const builds = () => readdirSync(join(path, 'dist')).filter((name) => /^build-\d+$/.test(name))
/** The folder that `dist/server.js` starts. */
const lastBuild = () => join('dist', /build-\d+/.exec(read('dist/server.js'))?.[0] ?? '')

const test = suite('the build')

test('the first start builds and says so; later starts reuse the build while the sources are the same', async () => {
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: 'Building …\n' })
  assert.equal(await run(), { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  assert.equal(await start('dist/server.js').ended, { code: 0, stdout: 'one\ntwo\n', stderr: '' })
  assert.equal(builds(), ['build-1'])
})

test('a process keeps its build while newer ones are made beside it; of many builds the oldest are removed', async () => {
  const running = [start('scripts/run.mjs', 'start', '--wait'), start('dist/server.js', '--wait')]
  await Promise.all(running.map(({ child }) => once(child.stdout, 'readable')))
  for (let n = 1; n <= 9; n++) {
    writeSecond(`newer-${n}`)
    assert.is((await run()).stdout, `one\nnewer-${n}\n`)
  }
  for (const { child, ended } of running) {
    child.stdin.write('continue\n')
    assert.is((await ended).stdout, 'one\ntwo\n')
  }
  assert.equal([builds().length, builds().includes('build-1')], [10, true])
  writeSecond('newest')
  await run()
  assert.equal([builds().length, builds().includes('build-1')], [10, false])
})

test('a changed, added or removed source is built, whatever its modification time, and so are files that are served as they are', async () => {
  write('engine/third.ts', 'export const third = 3')
  write('engine/assets/page.css', 'a {}')
  await run()
  assert.is(read(join(lastBuild(), 'engine/assets/page.css')), 'a {}')
  write('engine/assets/page.css', 'b {}')
  writeSecond('changed')
  utimesSync(join(path, 'engine/second.ts'), 1, 1)
  rmSync(join(path, 'engine/third.ts'))
  assert.equal(await run(), { code: 0, stdout: 'one\nchanged\n', stderr: 'Building …\n' })
  assert.is(read(join(lastBuild(), 'engine/assets/page.css')), 'b {}')
  assert.not.ok(existsSync(join(path, lastBuild(), 'engine/third.js')))
})

test('without TypeScript the last build is used, with a warning if the sources differ', async () => {
  rmSync(join(path, 'node_modules'))
  assert.equal(await run(), { code: 0, stdout: 'one\nchanged\n', stderr: '' })
  writeSecond('newer')
  const { code, stdout, stderr } = await run()
  assert.equal([code, stdout], [0, 'one\nchanged\n'])
  assert.match(stderr, /^The sources differ from the build in dist\/, and TypeScript is not installed: [^\n]+\n$/)
})

test('a compile error stops the start with the compiler’s message, and the last build stays', async () => {
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  write('engine/second.ts', 'export const second: string = ')
  const before = builds()
  const { code, stdout, stderr } = await run()
  assert.equal([code, stdout], [1, ''])
  assert.match(stderr, /^Building …\nThe build failed:\n\nengine\/second\.ts:1:\d+ - error /)
  assert.equal(builds(), before)
  assert.is((await start('dist/server.js').ended).stdout, 'one\nchanged\n')
})

test.run()
