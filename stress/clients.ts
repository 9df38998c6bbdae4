/** `npm run clients`: generates TypeScript clients from the OpenAPI document, compiles programs that use them, and runs them. */
import { spawnSync } from 'node:child_process'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basePath } from '../engine/contract/service.js'
import { temporaryFolder } from '../support/cleanup.js'
import { CommandError, defineCommand, runCommand } from '../support/options.js'
import { startProcess } from '../support/process.js'
import { root } from '../support/root.js'
import { heyApi, openapiFetch, orval, type Target } from './clientPrograms.js'

const command = {
  name: 'clients',
  about:
    'Generates TypeScript clients with openapi-typescript, hey-api and orval, compiles a program for each, and runs it.',
  options: {},
  example: '',
}

interface Document {
  readonly paths: Record<string, Record<string, { operationId: string; requestBody: { content: object } }>>
}

/** The first resource that clients may create. */
const targetIn = ({ paths }: Document, api: string, token: string): Target => {
  const [path, item] = Object.entries(paths).find(([, { post }]) => post) ?? []
  const get = paths[`${path}/{item_id}`]?.['get']
  if (!path || !item?.['get'] || !item['post'] || !get) throw new CommandError('No resource can be created.')
  const operations = {
    list: item['get'].operationId,
    get: get.operationId,
    create: item['post'].operationId,
  }
  const content = item['post'].requestBody.content as { 'application/json': { example: object } }
  return { api, token, path, operations, body: content['application/json'].example }
}

const packages = join(root, 'stress', 'clients')

const run = (folder: string, program: string, args: readonly string[]): void => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new CommandError(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`)
}

await runCommand(
  defineCommand(command, async () => {
    if (!existsSync(join(packages, 'node_modules', '.package-lock.json')))
      run(packages, 'npm', ['ci', '--ignore-scripts'])
    const token = 'token-of-the-generated-clients'
    const service = await startProcess({ DATABASE_URL: 'sqlite::memory:', API_TOKEN: token })
    const api = `${service.address}${basePath}`
    const document = (await (await fetch(`${api}/openapi.json`)).json()) as Document
    const target = targetIn(document, api, token)
    const { path: folder } = temporaryFolder('clients')
    const write = (name: string, content: unknown) =>
      writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
    const bin = (name: string, ...args: string[]) => run(folder, join(packages, 'node_modules', '.bin', name), args)
    symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'))
    write('package.json', { type: 'module' })
    write('openapi.json', document)
    bin('openapi-typescript', 'openapi.json', '-o', 'openapiTypescript.ts')
    bin('openapi-ts', '-i', 'openapi.json', '-o', 'heyApi', '-c', '@hey-api/client-fetch')
    const output = { target: 'orvalClient.ts', client: 'fetch', baseUrl: api }
    write('orval.config.cjs', `module.exports = ${JSON.stringify({ api: { input: 'openapi.json', output } })}`)
    bin('orval', '--config', 'orval.config.cjs')
    const programs = { 'openapi-fetch': openapiFetch, 'hey-api': heyApi, orval }
    for (const [name, program] of Object.entries(programs)) write(`${name}.ts`, program(target))
    const compilerOptions = {
      strict: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
      outDir: 'built',
      skipLibCheck: true,
    }
    const files = Object.keys(programs).map((name) => `${name}.ts`)
    write('tsconfig.json', { compilerOptions, files })
    bin('tsc')
    for (const name of Object.keys(programs)) {
      run(folder, process.execPath, [join('built', `${name}.js`)])
      console.log(`${name}: a list, a get, a create, a 422 and a 404 compile and run.`)
    }
    await service.end('SIGTERM')
  }),
)
