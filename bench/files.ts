/** `npm run files`: lists the files of the engine of which a function runs while a request is handled. */
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createService } from '../engine/service.js'
import { defineCommand, runCommand } from '../support/options.js'
import { root } from '../support/root.js'

const token = 'a-token-of-32-characters-or-more'
const json = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
const create = { method: 'POST', headers: json, body: '{"leave_type":"Vacation"}' }

const requests: readonly (readonly [what: string, path: string, init?: RequestInit])[] = [
  ['a list', '/v1/leave?limit=5&offset=N'],
  ['a list with search and order', '/v1/leave?q=ann&order=leave_type&limit=5&offset=N'],
  ['one row', '/v1/leave/N'],
  ['a create', '/v1/leave', create],
]

const engine = `${import.meta.dirname.replace(/bench$/, 'engine')}/`

/** The files whose functions ran; the kinds count as one. */
const filesThatRan = async (session: Session): Promise<string[]> => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = result.flatMap(({ url, functions }) => {
    if (!url.startsWith('file:')) return []
    const file = fileURLToPath(url)
    const ran = functions.some(
      ({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0),
    )
    return ran && file.startsWith(engine) ? [relative(engine, file)] : []
  })
  return [...new Set(files.map((file) => file.replace(/^descriptor\/kinds\/.*/, 'descriptor/kinds/')))].sort()
}

const command = {
  name: 'files',
  about: 'Lists the files of the engine of which a function runs while a request is handled, by coverage of V8.',
  options: {},
  example: '',
}

await runCommand(
  defineCommand(command, async () => {
    const settings = { DATABASE_URL: 'sqlite::memory:', PORT: '0', API_TOKEN: token, LOG_LEVEL: 'warn' }
    const service = await createService({ folder: root, settings })
    const address = await service.listen()
    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    for (const [what, path, init] of requests) {
      let files: string[] = []
      // The first ones prepare statements; each is for another page, which no cache has.
      for (let n = 1; n <= 3; n++) {
        await filesThatRan(session)
        const response = await fetch(`${address}/api${path.replace('N', String(n))}`, init)
        await response.text()
        files = await filesThatRan(session)
      }
      console.log(`${what}: ${files.length}\n  ${files.join('\n  ')}`)
    }
    session.disconnect()
    await service.close()
  }),
)
