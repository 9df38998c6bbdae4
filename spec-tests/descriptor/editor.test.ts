/** What an editor says about a mistake in a descriptor: the messages of the TypeScript compiler. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'

const root = dirname(folders.seeds)

/** The fields of a descriptor, one mistake each, and what the message says. */
const mistakes: [field: string, message: RegExp][] = [
  ['a: text({ filtr: true })', /'filtr' does not exist in type '.+'\. Did you mean to write 'filter'\?/],
  [
    'b: integer({ filter: true, uniqe: true })',
    /'uniqe' does not exist in type '.+'\. Did you mean to write 'unique'\?/,
  ],
  ['c: number({ filter: true })', /'filter' does not exist in type '.+'/],
  ['d: text({ required: true })', /'required' does not exist in type '.+'/],
  ['e: text({ default: 5 })', /Type 'number' is not assignable to type 'string | (() => string)/],
  ["f: integer({ managed: () => 'x' })", /Type '.*string' is not assignable to type 'true \| \(\(\) => number\)/],
  ["g: text({ format: 'day' })", /Type '"day"' is not assignable to type 'TextFormat/],
]

/** Compiles a descriptor and returns the messages by line. */
const messages = (source: string): Map<number, string> => {
  const { path } = temporaryFolder('editor')
  const file = join(path, 'things.ts')
  writeFileSync(file, source)
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(path, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { types: [], rootDir: '/', noEmit: true },
      include: ['things.ts'],
    }),
  )
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', path], { cwd: path, encoding: 'utf8' })
  return new Map(
    [...stdout.matchAll(/^things\.ts\((\d+),\d+\): error (.*)$/gm)].map(([, line, message]) => [
      Number(line),
      message as string,
    ]),
  )
}

const descriptor = (fields: readonly string[]) =>
  [
    `import { defineResource, integer, number, text } from '${join(root, 'engine/descriptor/index.js')}'`,
    "export default defineResource({ name: 'Thing', area: 'Things', table: 'things', required: [], create: true, fields: {",
    ...fields.map((field) => `  ${field},`),
    '}})',
    'integer(); number(); text()',
  ].join('\n')

const test = suite('editor')

test('every mistake is named, none as "never"', () => {
  const found = messages(descriptor(mistakes.map(([field]) => field)))
  for (const [index, [field, message]] of mistakes.entries()) {
    assert.match(found.get(index + 3) ?? 'nothing', message, field)
    assert.not.match(found.get(index + 3) ?? '', /'never'/, field)
  }
  assert.is(found.size, mistakes.length)
})

test('a descriptor without mistakes compiles', () => {
  const fields = [
    "a: text({ filter: true, unique: ['b'], default: () => 'x', about: 'A field.', example: 'y' })",
    "b: integer({ references: 'things', filter: true, unique: true, managed: true })",
    'c: number({ default: 1.5, redacted: true })',
  ]
  assert.equal(messages(descriptor(fields)), new Map())
})

test.run()
