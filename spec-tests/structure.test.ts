/** The shape of the house: imports run one way, the engine knows no resource, and the inferred types are exact. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../product.js'
import { registry } from './support/service.js'

const root = dirname(folders.seeds)
const sources = ['engine', 'resources'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)

/** The rooms a file's relative imports lead to. */
const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)[^;]*? from '(\.[^']+)'/gm)].map(
    ([, target]) => relative(root, join(root, dirname(file), target as string)),
  )
const roomOf = (file: string): string =>
  file.startsWith('engine/') && file.split('/').length > 2 ? file.split('/').slice(0, 2).join('/') : dirname(file)

/** What each room may know of, besides itself. */
const allowed: Record<string, readonly string[]> = {
  resources: ['engine/descriptor'],
  'engine/descriptor': [],
  'engine/contract': ['engine/descriptor'],
  'engine/storage': ['engine/descriptor'],
  'engine/http': ['engine/contract', 'engine/storage', 'engine/descriptor'],
  engine: [],
}

/** A tool that knows nothing of the house may be used in every room. */
const tools = ['engine/batchPerTick.js']

const test = suite('the structure')

for (const room of Object.keys(allowed)) {
  test(`${room} imports only what it may know of`, () => {
    const files = sources.filter((file) => roomOf(file) === room)
    assert.ok(files.length > 0)
    for (const file of files) {
      for (const target of importsOf(file)) {
        const isAllowed = tools.includes(target) || [room, ...(allowed[room] ?? [])].includes(roomOf(target))
        assert.ok(isAllowed, `${file} imports ${target}`)
      }
    }
  })
}

test('a resource imports the descriptor’s front door alone', () => {
  for (const file of sources.filter((one) => one.startsWith('resources/'))) {
    assert.equal(importsOf(file), ['engine/descriptor/index.js'], file)
  }
})

test('the engine names no resource', () => {
  const tables = registry.map(({ table }) => table).filter((table) => table !== 'applications')
  const named = new RegExp(`['"\`](${tables.join('|')})['"\`]`)
  for (const file of sources.filter((one) => one.startsWith('engine/'))) {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*\*.*?\*\/|'[^'\n]*such as[^'\n]*'/gs, '')
    assert.not.match(code, named, file)
  }
})

test('no file holds more than one idea can need', () => {
  for (const file of sources) assert.ok(readFileSync(join(root, file), 'utf8').split('\n').length <= 200, file)
})

test('every type holds, the inferred ones exactly', () => {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  try {
    execFileSync(process.execPath, [compiler, '--noEmit', '-p', root], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    assert.unreachable((error as { stdout: string }).stdout)
  }
})

test.run()
