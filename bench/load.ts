/** Generates load with wrk and sixteen connections. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type TemporaryFolder, temporaryFolder } from '../support/cleanup.js'
import { CommandError } from '../support/options.js'

export interface Load {
  readonly url: string
  /** Paths to request in turn; by default only the URL. */
  readonly paths?: readonly string[]
  readonly seconds: number
}

let scripts: TemporaryFolder | undefined

/** Resolves with requests per second. */
export const generateLoad = async ({ url, paths, seconds }: Load): Promise<number> => {
  const args = ['-t1', '-c16', `-d${seconds}`]
  if (paths) {
    scripts ??= temporaryFolder('bench')
    const script = join(scripts.path, 'paths.lua')
    const list = paths.map((path) => JSON.stringify(path)).join(',')
    writeFileSync(script, `local p={${list}} local n=0 request=function() n=n%#p+1 return wrk.format("GET",p[n]) end`)
    args.push('-s', script)
  }
  const { stdout } = await promisify(execFile)('wrk', [...args, url]).catch((error: Error & { code?: unknown }) => {
    throw error.code === 'ENOENT' ? new CommandError('wrk is not installed; install it, and try again.') : error
  })
  if (/Non-2xx/.test(stdout)) throw new Error(`${url} responded with errors`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}
