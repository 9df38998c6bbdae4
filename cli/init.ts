/** Makes a new project: a folder with one resource, its demo rows, and what npm and TypeScript need. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { CommandError, defineCommand } from '../support/options.js'
import { commandNames } from './commandNames.js'
import { engineManifest, readManifest } from './manifest.js'
import { projectFolder } from './project.js'

const command = {
  name: 'init',
  about: 'Makes a project that starts: a folder with one resource and its demo rows.',
  argument: { name: 'FOLDER', about: 'the folder to create; its name becomes that of the project', required: true },
  options: {},
  example: 'shop',
}

const engineName = 'resource-registry-engine'

/** The engine as the folder of this command depends on it: a file stays one; otherwise its version. */
const engineDependency = (folder: string, version: string): string => {
  const file = join(projectFolder(), 'package.json')
  const dependency = existsSync(file) ? readManifest(file).dependencies?.[engineName] : undefined
  if (!dependency?.startsWith('file:')) return `^${version}`
  return `file:${relative(folder, resolve(projectFolder(), dependency.slice('file:'.length))).replaceAll('\\', '/')}`
}

const manifestText = (folder: string): string => {
  const { version, devDependencies = {} } = engineManifest()
  // The driver of SQLite is built for Node 20, and contains its binaries for newer ones.
  const isBuilt = Number.parseInt(process.versions.node, 10) < 22
  const allowScripts = { 'better-sqlite3': isBuilt, 'better-sqlite3-node20': isBuilt, '@scarf/scarf': false }
  const names = commandNames.filter((name) => name !== 'init')
  const manifest = {
    name:
      basename(folder)
        .toLowerCase()
        .replaceAll(/[^a-z0-9._-]+/g, '-')
        .replaceAll(/^[._-]+|[._-]+$/g, '') || 'project',
    version: '1.0.0',
    private: true,
    type: 'module',
    scripts: { ...Object.fromEntries(names.map((name) => [name, `${engineName} ${name}`])), typecheck: 'tsc' },
    dependencies: { [engineName]: engineDependency(folder, version) },
    devDependencies: { typescript: devDependencies['typescript'] },
    allowScripts,
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

const resourceText = `import { boolean, date, defineResource, text } from 'resource-registry-engine'

export default defineResource({
  name: 'Task',
  area: 'Tasks',
  about: 'Something to do.',
  table: 'tasks',
  fields: {
    title: text({ minLength: 1, sort: true }),
    due: date({ sort: true, range: true }),
    done: boolean({ default: false, filter: true }),
  },
  required: ['title', 'done'],
  create: true,
  update: true,
  delete: true,
})
`

const seedsText = `[
  { "id": 1, "title": "Read the README", "due": "2027-01-04", "done": true },
  { "id": 2, "title": "Add a resource", "due": "2027-01-05", "done": false },
  { "id": 3, "title": "Serve it", "due": null, "done": false }
]
`

const testText = `import { assert, startTestService, test } from 'resource-registry-engine/testing'

const service = await startTestService()

test('a new task is not done', async () => {
  const request = new Request('http://localhost/api/v1/tasks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Try it' }),
  })
  const response = await service.as('API_TOKEN').fetch(request)
  assert.is(response.status, 201)
  const { done } = (await response.json()) as { done: boolean }
  assert.is(done, false)
})

test.run()
`

const productText = (name: string): string => `import type { Middleware, Product } from 'resource-registry-engine'

export const product: Product = {
  name: ${JSON.stringify(name)},
  about: 'What it serves, in a sentence.',
  version: '1.0.0',
}

/** Koa middleware that runs around every operation. */
export const middleware: readonly Middleware[] = []
`

const readmeText = (name: string): string => `# ${name}

    npm install
    npm start             # the API, its documentation and a data explorer at http://127.0.0.1:3000
    npm test              # the tests that follow from the resources, and those in tests/
    npm run dev           # restarts when a file changes
    npm run new -- books title:text! pages:integer --create

A resource is one file in \`resources/\`, its demo rows are in \`seeds/\`, custom operations go into \`operations/\`, hooks into \`hooks/\`, SQL that changes rows into \`migrations/\`, tests into \`tests/\`.
\`npx resource-registry-engine --help\` lists all commands. Set \`API_TOKEN\` to allow writes.
`

/** The names in a folder; none if it does not exist. */
const readFolder = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new CommandError(`Cannot make a project in ${folder} (${code}); nothing was written.`)
  }
}

const tsconfigText = `{
  "extends": "resource-registry-engine/tsconfig.json",
  "include": ["*.ts", "resources", "operations", "hooks", "tests"]
}
`

/** A name as a shell reads it. */
const shellWord = (name: string): string => (/[^\w./-]/.test(name) ? `'${name.replaceAll("'", "'\\''")}'` : name)

export default defineCommand(command, async (_, argument) => {
  const folder = resolve(projectFolder(), argument as string)
  const existingFiles = readFolder(folder)
  const taken = existingFiles.find((name) => ['package.json', 'resources', 'product.ts'].includes(name))
  if (taken !== undefined) throw new CommandError(`${argument} has a project already (${taken}); nothing was written.`)
  const name = basename(folder)
  const files: Readonly<Record<string, string>> = {
    'package.json': manifestText(folder),
    'tsconfig.json': tsconfigText,
    'product.ts': productText(name),
    'resources/tasks.ts': resourceText,
    'seeds/tasks.json': seedsText,
    'tests/tasks.test.ts': testText,
    'README.md': readmeText(name),
    '.gitignore': 'node_modules/\ndata/\nkeys.json\n',
  }
  const existing = Object.keys(files).find((file) => existsSync(join(folder, file)))
  if (existing !== undefined) throw new CommandError(`${argument} has a file ${existing}; nothing was written.`)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text, { flag: 'wx' })
  }
  const next = [
    ...(folder === projectFolder() ? [] : [`cd ${shellWord(argument as string)}`]),
    'npm install',
    'npm start',
  ]
  console.log(`Made the project ${name}. Next:\n  ${next.join('\n  ')}`)
})
