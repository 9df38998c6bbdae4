/** Load on a server: sixteen connections for some seconds, by wrk where it is installed, else by autocannon. */
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
    // It prints its version and ends with 1; what is not installed has no status at all.
    return (error as { status?: number | null }).status === 1
  }
  return true
}

export interface Load {
  readonly url: string
  /** The paths to ask for, one after another; without them the url alone. */
  readonly paths?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly seconds: number
}

/** Requests a second. */
export type Generator = (load: Load) => Promise<number>

let scripts: TemporaryFolder | undefined

const byWrk: Generator = async ({ url, paths, headers = {}, seconds }) => {
  const args = ['-t1', `-c${connections}`, `-d${seconds}`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  if (paths) {
    scripts ??= temporaryFolder('bench')
    const script = join(scripts.path, 'paths.lua')
    const list = paths.map((path) => JSON.stringify(path)).join(',')
    writeFileSync(script, `local p={${list}} local n=0 request=function() n=n%#p+1 return wrk.format("GET",p[n]) end`)
    args.push('-s', script)
  }
  const { stdout } = await promisify(execFile)('wrk', [...args, url])
  if (/Non-2xx/.test(stdout) && headers['If-None-Match'] === undefined) throw new Error(`${url} answered errors`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

const byAutocannon: Generator = async ({ url, paths, headers, seconds }) => {
  const autocannon = createRequire(join(peersFolder, 'package.json'))('autocannon') as (
    options: object,
  ) => Promise<{ requests: { average: number } }>
  const requests = paths?.map((path) => ({ path }))
  const result = await autocannon({ url, connections, duration: seconds, headers, ...(requests && { requests }) })
  return result.requests.average
}

/** The generator of this machine, and its name for the report. */
export const loadGenerator = (): { name: string; generate: Generator } =>
  hasWrk() ? { name: 'wrk', generate: byWrk } : { name: 'autocannon', generate: byAutocannon }
