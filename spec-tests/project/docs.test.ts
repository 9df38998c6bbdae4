/** The documentation: links, commands, files, functions and settings that it names exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { root } from '../../support/root.js'
import { callModule } from '../support/callCommand.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  '.github/pull_request_template.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(root, 'templates')).map((name) => `templates/${name}/README.md`),
]
/** The changelog also names what is gone. */
const current = documents.filter((path) => path !== 'CHANGELOG.md')

const allOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found as string)

/** The anchors of a document, as GitHub makes them from its headings. */
const anchorsOf = (path: string): string[] =>
  allOf(read(path), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The source files that a text names, without the example, which may be gone. */
const filesIn = (text: string): string[] =>
  allOf(text, /`((?:engine|cli|bench|stress|support|scripts|spec-tests(?!\/example)|docs|deploy)\/[\w./-]+\.\w+)`/g)

const test = suite('docs')

for (const path of documents) {
  test(`${path}: every relative link leads to a file, and to a heading of it`, () => {
    for (const link of allOf(read(path), /\]\((?!https?:)([^)\s]+)\)/g)) {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : join(dirname(path), file)
      assert.ok(existsSync(join(root, target)), `${path} links to ${link}`)
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), `${path} links to ${link}`)
    }
  })

  test(`${path}: every npm script exists`, () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: object }
    for (const name of allOf(read(path), /\bnpm (?:run )?((?<=run )[\w:-]+|start|test)\b/g)) {
      assert.ok(name in scripts, `${path} names npm run ${name}`)
    }
  })
}

const packageName = 'resource-registry-engine'

for (const path of current) {
  test(`${path}: npx runs what is installed: the package under its own name, or TypeScript`, () => {
    // npx downloads and runs any other name from the registry, whoever has registered it.
    for (const name of allOf(read(path), /\bnpx ([^\s`]+)/g))
      assert.ok([packageName, 'tsc'].includes(name), `${path} has npx ${name}`)
  })

  test(`${path}: commands are in blocks that say so, and a page with init says where the package is from`, () => {
    for (const [, language = '', block = ''] of read(path).matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
      // Only such blocks are run by tests.
      if (language === '') assert.not.match(block, /^(?:npm|npx|node|curl) /m, path)
      if (block.includes(`npx ${packageName} init`))
        assert.match(read(path), /npm install --ignore-scripts \S+resource-registry-engine-\S+\.tgz/, path)
    }
  })

  test(`${path}: every source file exists`, () => {
    for (const file of filesIn(read(path))) assert.ok(existsSync(join(root, file)), `${path} names ${file}`)
  })

  test(`${path}: a function named beside a file is in that file`, () => {
    for (const line of read(path).split('\n')) {
      const sources = filesIn(line).map(read)
      if (sources.length === 0) continue
      for (const name of allOf(line, /`(\w+)\(\)`/g)) {
        const isThere = sources.some((source) => new RegExp(`\\b${name}\\b`).test(source))
        assert.ok(isThere, `${path} looks for ${name}() in ${filesIn(line).join(', ')}`)
      }
    }
  })
}

const messageSources = ['engine', 'cli', 'support'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)

test('every page that a message names exists, with its heading', () => {
  const named = messageSources.flatMap((path) => allOf(read(path), /\b(docs\/[\w-]+\.md(?:#[\w-]+)?)/g))
  assert.ok(named.some((name) => name.includes('#')))
  for (const name of named) {
    const [file = '', anchor] = name.split('#')
    assert.ok(existsSync(join(root, file)), name)
    if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), name)
  }
})

test('the package provides a command with the name of the package', () => {
  const { name, bin } = JSON.parse(read('package.json')) as { name: string; bin: Record<string, string> }
  assert.is(name, packageName)
  assert.is(bin[name], bin['resource-registry'])
})

test('messages name the package, not another name that npx would download', () => {
  for (const file of messageSources)
    for (const name of allOf(read(file), /\bnpx ([\w-]+)/g)) assert.is(name, packageName, file)
})

test('the tables of commands, settings and properties of descriptors are those that `npm run tables` writes', async () => {
  const compiled = join(dirname(dirname(import.meta.dirname)), 'cli', 'tables.js')
  assert.equal(await callModule(compiled, ['--check']), { status: 0, stdout: '', stderr: '' })
})

test.run()
