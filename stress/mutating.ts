/** Runs mutants: each is a copy of the build with one replacement, in which the named test suites must fail. */
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { nearest } from '../engine/descriptor/nearest.js'
import { folders } from '../product.js'
import { isInterrupted, spawnChild, temporaryFolder } from '../support/cleanup.js'
import { inLanes } from '../support/inLanes.js'
import { CommandError, UsageError } from '../support/options.js'
import { type PostgresServer, startPostgres } from '../support/postgresServer.js'
import { creates } from './mutants/creates.js'
import { descriptors } from './mutants/descriptors.js'
import { explorer } from './mutants/explorer.js'
import { http } from './mutants/http.js'
import type { Mutant } from './mutants/mutant.js'
import { postgres } from './mutants/postgres.js'
import { reads } from './mutants/reads.js'
import { sqlite } from './mutants/sqlite.js'

const all: readonly Mutant[] = [...http, ...reads, ...creates, ...descriptors, ...explorer, ...sqlite, ...postgres]

const build = dirname(import.meta.dirname)
const root = dirname(folders.seeds)

/** A suite that takes longer is stopped, and the mutant counts as survived. */
const suiteTimeoutMs = 180_000

export interface Verdict {
  readonly mutant: Mutant
  readonly isKilled: boolean
  /** The test that failed, or why none did. */
  readonly reason: string
}

/** The mutants whose name contains a text. */
export const chooseMutants = (text: string): readonly Mutant[] => {
  const chosen = all.filter(({ name }) => name.includes(text))
  if (chosen.length > 0) return chosen
  const near = nearest(
    text,
    all.map(({ name }) => name),
  )
  throw new UsageError(
    `No mutant has "${text}" in its name. ${near ? `Did you mean ${near}?` : 'See stress/mutants/.'}`,
  )
}

/** The file as the mutant changes it; undefined where the text is not there exactly once. */
const mutated = ({ file, find, replace }: Mutant): string | undefined => {
  const path = join(build, file)
  const parts = existsSync(path) ? readFileSync(path, 'utf8').split(find) : []
  return parts.length === 2 ? parts.join(replace) : undefined
}

/** Throws if mutants no longer apply to the sources; the message lists all of them. */
export const checkMutants = (mutants: readonly Mutant[] = all): void => {
  const names = mutants.map(({ name }) => name)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  const outdated = mutants.filter((mutant) => mutated(mutant) === undefined)
  const faults = [
    ...twice.map((name) => `${name}: two mutants have this name.`),
    ...outdated.map(({ name, file, find }) => `${name}: ${file} must contain this exactly once: ${find}`),
  ]
  if (faults.length > 0) throw new CommandError(`stress/mutants/ does not fit the build:\n${faults.join('\n')}`)
}

interface Sandbox {
  readonly build: string
  readonly temporary: string
  remove(): void
}

/** A copy of the build, with links to what it needs: the packages, the demo rows, the compressed docs page and package.json. */
const sandboxIn = (parent: string, name: string): Sandbox => {
  const folder = join(parent, name)
  const [copy, temporary] = [join(folder, 'build'), join(folder, 'tmp')]
  mkdirSync(temporary, { recursive: true })
  cpSync(build, copy, { recursive: true, filter: (path) => !basename(path).startsWith('pid-') })
  for (const shared of ['node_modules', 'seeds']) symlinkSync(join(root, shared), join(folder, shared))
  symlinkSync(join(root, 'dist', 'brotli'), join(folder, 'brotli'))
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  return {
    build: copy,
    temporary,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}

type Outcome = { readonly failed: string } | { readonly notFailed: string }

/** Runs a suite until its first failing test. A run that crashes has no failing test: a broken mutant proves nothing. */
const runSuite = async (sandbox: Sandbox, suite: string, server: PostgresServer | undefined): Promise<Outcome> => {
  const env = { ...process.env, NO_COLOR: '1', TMPDIR: sandbox.temporary, TEST_DATABASE_URL: server?.url }
  const args = ['--enable-source-maps', join(sandbox.build, 'spec-tests', 'run.js'), suite]
  const child = spawnChild(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }, 'SIGTERM')
  const closed = once(child, 'close')
  let [output, errors] = ['', '']
  let failed: string | undefined
  let isLate = false
  child.stdout?.on('data', (chunk) => {
    output += chunk
    failed ??= /^ +FAIL .*?"(.*)"$/m.exec(output)?.[1]
    if (failed !== undefined) child.kill('SIGTERM')
  })
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGTERM')
  }, suiteTimeoutMs)
  const [code] = (await closed) as [number | null]
  clearTimeout(timer)
  if (isInterrupted()) throw new CommandError('The run was interrupted.')
  if (failed !== undefined) return { failed }
  if (isLate) return { notFailed: `did not end within ${suiteTimeoutMs / 1000} s` }
  return { notFailed: code === 0 ? 'passed' : `ended with code ${code} and no failing test: ${errors.split('\n')[0]}` }
}

/** Runs mutants and reports on each. The suites must pass without a mutant, or their failures would prove nothing. */
export const runMutants = async (
  mutants: readonly Mutant[],
  jobs: number,
  report: (verdict: Verdict) => void,
): Promise<{ killed: Mutant[]; survived: Mutant[] }> => {
  checkMutants(mutants)
  const parent = temporaryFolder('mutants')
  // Some tests run the service as another user.
  chmodSync(parent.path, 0o755)
  const server = mutants.some(({ database }) => database === 'postgres') ? await startPostgres() : undefined
  const serverOf = (database: Mutant['database']) => (database === 'postgres' ? server : undefined)

  const suites = new Set(mutants.flatMap((mutant) => mutant.suites.map((suite) => `${mutant.database} ${suite}`)))
  const untouched = sandboxIn(parent.path, 'untouched')
  await inLanes([...suites], jobs, async (key) => {
    const [database, suite] = key.split(' ') as [Mutant['database'], string]
    const outcome = await runSuite(untouched, suite, serverOf(database))
    if ('notFailed' in outcome && outcome.notFailed === 'passed') return
    throw new CommandError(`${suite} fails on ${database} without a mutant: ${Object.values(outcome)[0]}`)
  })
  untouched.remove()

  const verdictOn = async (mutant: Mutant): Promise<Verdict> => {
    const sandbox = sandboxIn(parent.path, mutant.name)
    try {
      writeFileSync(join(sandbox.build, mutant.file), mutated(mutant) ?? '')
      const noticed: string[] = []
      for (const suite of mutant.suites) {
        const outcome = await runSuite(sandbox, suite, serverOf(mutant.database))
        if ('notFailed' in outcome) return { mutant, isKilled: false, reason: `${suite}: ${outcome.notFailed}` }
        noticed.push(`${suite}: "${outcome.failed}"`)
      }
      return { mutant, isKilled: true, reason: noticed.join(', ') }
    } finally {
      sandbox.remove()
    }
  }
  const killed: Mutant[] = []
  const survived: Mutant[] = []
  await inLanes(mutants, jobs, async (mutant) => {
    const verdict = await verdictOn(mutant)
    const verdicts = verdict.isKilled ? killed : survived
    verdicts.push(mutant)
    report(verdict)
  })
  await server?.stop()
  parent.remove()
  return { killed, survived }
}
