/** Generates load with sixteen connections, by wrk if it is installed, otherwise by autocannon. */
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type TemporaryFolder, temporaryFolder } from '../support/cleanup.js'
import { peersFolder } from './processes.js'

const connections = 16

const hasWrk = (): boolean => {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' })
  } catch (error) {
    // wrk prints its version and exits with 1; a missing program has no exit status.
    return (error as { status?: number | null }).status === 1
  }
  return true
}

export interface Load {
  readonly url: string
  /** Paths to request in turn; by default only the URL. */
  readonly paths?: readonly string[]
  readonly seconds: number
}

/** Resolves with requests per second. */
export type LoadGenerator = (load: Load) => Promise<number>

let scripts: TemporaryFolder | undefined

const byWrk: LoadGenerator = async ({ url, paths, seconds }) => {
  const args = ['-t1', `-c${connections}`, `-d${seconds}`]
  if (paths) {
    scripts ??= temporaryFolder('bench')
    const script = join(scripts.path, 'paths.lua')
    const list = paths.map((path) => JSON.stringify(path)).join(',')
    writeFileSync(script, `local p={${list}} local n=0 request=function() n=n%#p+1 return wrk.format("GET",p[n]) end`)
    args.push('-s', script)
  }
  const { stdout } = await promisify(execFile)('wrk', [...args, url])
  if (/Non-2xx/.test(stdout)) throw new Error(`${url} responded with errors`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

const byAutocannon: LoadGenerator = async ({ url, paths, seconds }) => {
  const autocannon = createRequire(join(peersFolder, 'package.json'))('autocannon') as (
    options: object,
  ) => Promise<{ requests: { average: number } }>
  const requests = paths?.map((path) => ({ path }))
  const result = await autocannon({ url, connections, duration: seconds, ...(requests && { requests }) })
  return result.requests.average
}

/** The load generator of this machine, and its name for the report. */
export const loadGenerator = (): { name: string; generate: LoadGenerator } =>
  hasWrk() ? { name: 'wrk', generate: byWrk } : { name: 'autocannon', generate: byAutocannon }
