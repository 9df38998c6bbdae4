/** The structure of the code: allowed imports, and no resource names in the engine. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { kindNames } from '../../engine/descriptor/kinds/index.js'
import { root } from '../../support/root.js'

/** The folders that each folder may import from, besides itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'engine/descriptor': [],
  'engine/contract': ['engine/descriptor'],
  'engine/storage': ['engine/descriptor'],
  'engine/explorer': ['engine/contract', 'engine/storage', 'engine/descriptor'],
  'engine/http': ['engine/explorer', 'engine/contract', 'engine/storage', 'engine/descriptor'],
  'engine/webhooks': ['engine/contract', 'engine/storage', 'engine/descriptor'],
  'engine/process': ['engine/descriptor'],
  engine: [
    'engine/descriptor',
    'engine/contract',
    'engine/storage',
    'engine/http',
    'engine/webhooks',
    'engine/process',
  ],
  support: ['engine'],
  'server.ts': ['engine', 'support'],
  cli: ['engine', 'support', 'server.ts'],
  stress: ['engine', 'support'],
  bench: ['engine', 'support'],
  'spec-tests': ['engine', 'support', 'stress', 'resources', 'cli'],
}

/** Helpers that every folder may import. */
// biome-ignore format: one list
const universal = [
  'batchPerTick', 'buildOnce', 'commandLine', 'databaseUrl', 'digestSet', 'jsonError', 'oncePer', 'safeUrl',
  'stripTypes', 'typescript', 'watchedFile',
].map((name) => `engine/process/${name}.ts`)

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(?:\.|node_modules$|dist$)/.test(entry.name) ? [] : filesIn(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })

/** The most specific entry of `allowed` for a file. */
const partOf = (file: string): string =>
  Object.keys(allowed)
    .filter((name) => file === name || file.startsWith(`${name}/`))
    .sort((a, b) => b.length - a.length)[0] ?? file

const isEngine = (file: string): boolean => Object.keys(allowed).includes(partOf(file))
const files = filesIn('')
const sources = files.filter(isEngine)

/** The files that a file imports by relative path, statically or dynamically. */
const importsOf = (file: string): string[] =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /^(?:import|export)[^;]*? from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
    ),
  ].map(([, named, lazy]) => join(dirname(file), (named ?? lazy) as string).replace(/\.js$/, '.ts'))

const test = suite('structure')

for (const [part, targets] of Object.entries(allowed)) {
  test(`${part} imports only allowed folders`, () => {
    const own = sources.filter((file) => partOf(file) === part)
    assert.ok(own.length > 0)
    // Folders inside the engine are listed one by one; any other entry includes its subfolders.
    const isAllowed = (target: string) =>
      partOf(target) === part ||
      universal.includes(target) ||
      targets.some((name) => (part.startsWith('engine') ? partOf(target) === name : target.startsWith(name)))
    for (const file of own) {
      for (const target of importsOf(file)) assert.ok(isAllowed(target), `${file} imports ${target}`)
    }
  })
}

test('no file of the engine, the commands and their tools imports itself through others, not even for types', () => {
  const checked = new Set(sources.filter((file) => !file.startsWith('spec-tests/')))
  const followed = new Set<string>()
  const circles: string[] = []
  const follow = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file)
    if (start >= 0) circles.push([...trail.slice(start), file].join(' → '))
    if (followed.has(file)) return
    followed.add(file)
    for (const target of importsOf(file)) if (checked.has(target)) follow(target, [...trail, file])
  }
  for (const file of checked) follow(file, [])
  assert.equal(circles, [])
})

test('files of the project import each other and the package, as those of any project do', () => {
  const own = files.filter((file) => !isEngine(file))
  assert.ok(own.includes('product.ts'))
  for (const file of own)
    for (const target of importsOf(file)) assert.not.ok(isEngine(target), `${file} imports ${target}`)
})

test('engine, commands and their help name nothing of the example', () => {
  // Not every table of the registry: one that a user adds may be a word that the engine uses too, such as "rows".
  const named =
    /workforce|\b(?:attendance|career[-_]sites|departments|employees|leave_requests|organizations)\b|\bleave\.ts|\/(?:leave|jobs)\b|['"`](?:jobs|leave)['"`]/i
  for (const file of sources.filter((one) => /^(?:engine|cli|support)\/|^server\.ts$/.test(one)))
    assert.not.match(readFileSync(join(root, file), 'utf8'), named, file)
})

test('an operator is a row of engine/descriptor/operators.ts: storage and contract ask for none by its name', () => {
  for (const file of sources.filter((one) => /^engine\/(?:storage|contract)\//.test(one)))
    assert.not.match(readFileSync(join(root, file), 'utf8'), /operator [!=]== '/, file)
})

test('a kind is a file of engine/descriptor/kinds/: no other file compares the name of one', () => {
  const names = `'(?:${kindNames.join('|')})'`
  const compared = new RegExp(`(?:kind|id)\\)? [!=]== ${names}|${names} [!=]== `, 'i')
  assert.match("field.kind === 'uuid'", compared)
  const others = sources.filter((one) => /^(?:engine|cli|support|stress|bench)\//.test(one))
  for (const file of others.filter((one) => !one.startsWith('engine/descriptor/kinds/')))
    assert.not.match(readFileSync(join(root, file), 'utf8'), compared, file)
})

test.run()
