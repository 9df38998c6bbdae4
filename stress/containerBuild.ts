/** Carries out the build steps of a Containerfile in an empty folder: each stage is a subfolder, and RUN has no privileges. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { onEnd } from '../support/cleanup.js'
import { CommandError } from '../support/options.js'
import type { Stage, Step } from './containerSteps.js'

/** The user of a step, if this process may choose one. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

const isRoot = process.getuid?.() === 0

/** The user of the image. Only root can run commands as another user; otherwise it is the user of this process. */
export const userOf = ({ user = '' }: Stage): User => {
  const [uid, gid] = user.split(':').map(Number)
  if (!uid || !gid) throw new CommandError(`USER is "${user}", but it must be UID:GID, and not root.`)
  return isRoot ? { uid, gid } : {}
}

/** Where npm downloads from on this machine; a new user has none of these settings. */
const npmSettings = (): Record<string, string> => {
  const all = JSON.parse(execFileSync('npm', ['config', 'list', '--json'], { encoding: 'utf8', stdio: 'pipe' }))
  const names = ['registry', 'cafile', 'nodedir', 'proxy', 'https-proxy', 'noproxy']
  return Object.fromEntries(
    names.flatMap((name) => (typeof all[name] === 'string' ? [[`npm_config_${name}`, all[name] as string]] : [])),
  )
}

const runStep = async (command: string, cwd: string, env: NodeJS.ProcessEnv, user: User): Promise<void> => {
  // Detached, so that an interrupt ends npm and the compilers with the shell.
  const child = spawn('sh', ['-c', command], {
    cwd,
    env,
    ...user,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const cancel = onEnd(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'))
  const [code] = await once(child, 'exit')
  cancel()
  if (code !== 0) throw new CommandError(`The step failed with code ${code}: ${command}`)
}

/** Copies as COPY does: several files go into the target, the content of a folder becomes the target. */
const copy = (step: Step & { kind: 'copy' }, from: string, to: string): void => {
  for (const source of step.sources) {
    const path = join(from, source)
    const isFolder = statSync(path).isDirectory()
    const target = isFolder || !/(?:^\.?|\/)$/.test(step.target) ? step.target : join(step.target, basename(source))
    cpSync(path, join(to, target), { recursive: true, verbatimSymlinks: true })
  }
}

const giveTo = (path: string, { uid, gid }: User): void => {
  if (uid !== undefined && gid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, path])
}

/** Builds every stage below the folder; returns the folder of the last stage's code, which its user cannot write to. */
export const buildStages = async (stages: readonly Stage[], project: string, folder: string): Promise<string> => {
  const last = stages.at(-1) as Stage
  const user = userOf(last)
  const home = join(folder, 'home')
  mkdirSync(home)
  giveTo(home, user)
  const { PATH } = process.env
  const env = { PATH, HOME: home, JOBS: 'max', ...npmSettings() }
  const rootOf = (name: string) => join(folder, `stage-${name}`)
  for (const stage of stages) {
    const code = join(rootOf(stage.name), stage.workdir)
    mkdirSync(code, { recursive: true })
    for (const step of stage.steps) {
      if (step.kind === 'copy') {
        console.log(`COPY ${[...step.sources, step.target].join(' ')}`)
        copy(step, step.from === undefined ? project : rootOf(step.from), code)
        if (step.owner !== undefined && isRoot) {
          const [uid = 0, gid = 0] = step.owner.split(':').map(Number)
          chownSync(join(code, step.target), uid, gid)
        }
      } else {
        console.log(`RUN ${step.command}`)
        giveTo(code, user)
        await runStep(step.command, code, { ...env, ...stage.env }, user)
      }
    }
  }
  const code = join(rootOf(last.name), last.workdir)
  if (!isRoot) {
    execFileSync('chmod', ['-R', 'a-w', code])
    onEnd(() => execFileSync('chmod', ['-R', 'u+w', code]))
    for (const volume of last.volumes) chmodSync(join(rootOf(last.name), volume), 0o755)
  }
  return code
}
