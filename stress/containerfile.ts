/** `npm run containerfile`: runs the steps of the Containerfile without a container engine, and checks the resulting service. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { folders } from '../product.js'
import { spawnChild, temporaryFolder } from '../support/cleanup.js'
import { CommandError, runCommand } from '../support/options.js'
import { buildStages, userOf } from './containerBuild.js'
import { type Stage, stagesOf } from './containerSteps.js'

const command = {
  name: 'npm run containerfile',
  about: 'Runs the steps of the Containerfile in an empty folder as an unprivileged user, and checks the service.',
  options: {},
  example: 'npm run containerfile',
}

const root = dirname(folders.seeds)
const token = 'a-token-of-the-containerfile-check'

const check = (isTrue: boolean, what: string): void => {
  if (!isTrue) throw new CommandError(`Failed: ${what}`)
  console.log(`ok: ${what}`)
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Runs programs of the image in its working folder, as its user and with its environment. */
const imageIn = (stage: Stage, cwd: string, port: number) => {
  const { PATH } = process.env
  const env = { PATH, HOME: '/nonexistent', ...stage.env, PORT: String(port), API_TOKEN: token }
  const options = { cwd, env, ...userOf(stage) }
  return {
    exitCodeOf: (program: string, args: readonly string[]): Promise<number> =>
      new Promise((resolve) => {
        const child = execFile(program, args, options, () => resolve(child.exitCode ?? -1))
      }),
    async start() {
      const [program = '', ...args] = stage.command
      const child = spawnChild(program, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = once(child, 'exit')
      let output = ''
      await new Promise<void>((resolve, reject) => {
        child.stdout?.on('data', (chunk: Buffer) => {
          output += chunk
          if (output.includes('Ready at')) resolve()
        })
        child.once('error', reject)
        child.once('exit', (code) => reject(new CommandError(`The service ended with code ${code}: ${output}`)))
      })
      return {
        async stop(): Promise<number | null> {
          child.kill('SIGTERM')
          return (await ended)[0] as number | null
        },
      }
    },
  }
}

/** Starts, checks, stops and restarts the image. */
const checkImage = async (stage: Stage, code: string): Promise<void> => {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const image = imageIn(stage, code, port)
  const [program = '', ...args] = stage.healthcheck
  const isHealthy = async () => (await image.exitCodeOf(program, args)) === 0
  const statusOf = async (path: string, init?: RequestInit) => (await fetch(`${address}${path}`, init)).status

  const isReadOnly = (await image.exitCodeOf('test', ['-w', '.'])) === 1
  check(isReadOnly, 'the user cannot write into the code')
  check(!(await isHealthy()), 'the health check fails before the start')
  const first = await image.start()
  for (const path of ['/livez', '/readyz', '/', '/api/docs', '/api/openapi.json']) {
    check((await statusOf(path)) === 200, `GET ${path} is 200`)
  }
  check(await isHealthy(), 'the health check succeeds')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const created = await fetch(`${address}/api/v1/leave`, { method: 'POST', headers, body: '{"leave_type":"Annual"}' })
  check(created.status === 201, 'a create is 201')
  const row = created.headers.get('location') ?? ''
  const backup = ['scripts/run.mjs', 'cli/backup', 'data/backup.sqlite']
  check((await image.exitCodeOf('node', backup)) === 0, 'a backup goes into the volume')
  check((await first.stop()) === 0, 'SIGTERM ends the service with code 0')
  check(!(await isHealthy()), 'the health check fails after the stop')
  const second = await image.start()
  check((await statusOf(row)) === 200, 'the row is there after a restart')
  check((await second.stop()) === 0, 'SIGTERM ends it again with code 0')
  const files = readdirSync(join(code, 'data'))
  check(files.sort().join() === 'backup.sqlite,workforce.sqlite', 'the volume has the database and the backup')
  check(!existsSync(join(code, 'node_modules', 'typescript')), 'the image has no development packages')
}

await runCommand(command, async () => {
  const stages = stagesOf(readFileSync(join(root, 'Containerfile'), 'utf8'))
  const { path: folder } = temporaryFolder('containerfile')
  chmodSync(folder, 0o755)
  const code = await buildStages(stages, root, folder)
  await checkImage(stages.at(-1) as Stage, code)
})
