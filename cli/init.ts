/** Makes a new project: a folder with a small product or a single resource, and what npm and TypeScript need. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { CommandError, defineCommand, flag } from '../support/options.js'
import { commandNames } from './commandNames.js'
import { addKey } from './keysFile.js'
import { engineFolder, engineManifest, readManifest } from './manifest.js'
import { projectFolder } from './project.js'

const command = {
  name: 'init',
  about: 'Makes a project that starts: a small shop with a key to sign in, or one resource.',
  argument: { name: 'FOLDER', about: 'the folder to create; its name becomes that of the project', required: true },
  options: { bare: flag('one resource instead of the shop, to begin with your own') },
  example: 'shop',
}

const engineName = 'resource-registry-engine'

const keysFile = 'keys.json'

/** The folders whose package.json may say where the engine is from: that of this command, and the one above node_modules with the engine. */
const installations = (): string[] => {
  const modules = dirname(engineFolder())
  return [projectFolder(), ...(basename(modules) === 'node_modules' ? [dirname(modules)] : [])]
}

/** The engine as a new project depends on it: the file from which it was installed, otherwise its version. */
const engineDependency = (folder: string, version: string): string => {
  for (const installation of installations()) {
    const manifest = join(installation, 'package.json')
    const dependency = existsSync(manifest) ? readManifest(manifest).dependencies?.[engineName] : undefined
    if (dependency?.startsWith('file:')) {
      const file = relative(folder, resolve(installation, dependency.slice('file:'.length)))
      return `file:${file.replaceAll('\\', '/')}`
    }
    if (dependency !== undefined) break
  }
  return `^${version}`
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

/** The files of a template, with the name of the project in them, as a title. */
const templateFiles = (template: string, name: string): [file: string, text: string][] => {
  const folder = join(engineFolder(), 'templates', template)
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const inCode = JSON.stringify(title).slice(1, -1).replaceAll("'", "\\'")
  return readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name)
      const text = readFileSync(path, 'utf8').replaceAll('PROJECT', () => (path.endsWith('.md') ? title : inCode))
      return [relative(folder, path), text]
    })
}

/** A name as a shell reads it. */
const shellWord = (name: string): string => (/[^\w./-]/.test(name) ? `'${name.replaceAll("'", "'\\''")}'` : name)

export default defineCommand(command, async ({ bare }, argument) => {
  const folder = resolve(projectFolder(), argument as string)
  const existingFiles = readFolder(folder)
  const taken = existingFiles.find((name) => ['package.json', 'resources', 'product.ts'].includes(name))
  if (taken !== undefined) throw new CommandError(`${argument} has a project already (${taken}); nothing was written.`)
  const name = basename(folder)
  const files: readonly [file: string, text: string][] = [
    ['package.json', manifestText(folder)],
    ['tsconfig.json', tsconfigText],
    // npm leaves out such a file of a package.
    ['.gitignore', `node_modules/\ndata/\n${keysFile}\n`],
    ...templateFiles(bare ? 'bare' : 'shop', name),
  ]
  const names = [...files.map(([file]) => file), ...(bare ? [] : [keysFile])]
  const existing = names.find((file) => existsSync(join(folder, file)))
  if (existing !== undefined) throw new CommandError(`${argument} has a file ${existing}; nothing was written.`)
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text, { flag: 'wx' })
  }
  const next = [
    ...(folder === projectFolder() ? [] : [`cd ${shellWord(argument as string)}`]),
    'npm install',
    'npm start',
  ]
  console.log(`Made the project ${name}. Next:\n  ${next.join('\n  ')}`)
  if (bare) return
  const key = addKey(join(folder, keysFile), { name: 'manager', roles: ['manager'] })
  console.log(`\nSign in with this key, which is shown only now:\n  ${key}`)
})
