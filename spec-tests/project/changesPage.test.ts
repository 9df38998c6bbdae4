/** docs/changes.md: both consumers keep a copy of the list, whoever writes, over restarts and after a resync. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { stripTypes } from '../../engine/process/stripTypes.js'
import type { Storage } from '../../engine/storage/storage.js'
import { spawnChild } from '../../support/cleanup.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callersNamed } from '../support/callers.js'
import { readPage } from '../support/consolePage.js'
import { closeServices, followPages, startService } from '../support/service.js'
import { until } from '../support/until.js'

const page = readPage('changes.md')
const blocks = Object.fromEntries(
  [...page.matchAll(/^```(?:ts|python)\n(?:\/\/|#) (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
)
const folder = temporaryProject()
const fileIn = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
mkdirSync(join(folder, 'resources'))
fileIn('resources/books.ts', blocks['resources/books.ts'] ?? '')

const hasPython = (): boolean => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const commands: Readonly<Record<string, () => readonly [string, string]>> = {
  TypeScript: () => [process.execPath, fileIn('follow.mjs', stripTypes(blocks['follow.mts'] ?? '', 'follow.mts'))],
  Python: () => ['python3', fileIn('follow.py', blocks['follow.py'] ?? '')],
}

const test = suite('docs/changes.md')

for (const [language, commandOf] of Object.entries(commands)) {
  const runs = language !== 'Python' || hasPython()
  if (!runs) console.log('Skipped the consumer in Python: python3 is not installed.')
  ;(runs ? test : test.skip)(`the consumer in ${language} has the rows of the list`, async () => {
    const [command, program] = commandOf()
    const registry = await loadRegistry(folder)
    const callers = { reader: { roles: [] as string[] } }
    let resyncs = 0
    const wrapStorage = (storage: Storage): Storage => ({
      ...storage,
      changes: async (resource, query) =>
        query.after !== undefined && resyncs-- > 0 ? 'resync' : storage.changes(resource, query),
    })
    const service = await startService({ registry, credentials: callersNamed(callers), wrapStorage })
    const { create, change, remove } = service
    const file = join(folder, `${language}.json`)
    const list = `${service.address}/api/v1/books`
    const start = () => {
      const child = spawnChild(command, [program, list, file], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, API_KEY: 'reader' },
      })
      return async () => {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      }
    }
    const isCopied = async (): Promise<boolean> => {
      if (!existsSync(file)) return false
      const rows = await followPages(service, '/api/v1/books')
      const { rows: copied } = JSON.parse(readFileSync(file, 'utf8')) as { rows: Record<string, RowValues> }
      return JSON.stringify(Object.fromEntries(rows.map((row) => [row['id'], row]))) === JSON.stringify(copied)
    }
    /** Several at once; some fail because the row is gone. */
    const write = async (from: number): Promise<void> => {
      const writer = async (n: number) => {
        await create('books', { title: `Book ${n}` })
        await change(`books/${1 + (n % 17)}`, { copies: n })
        if (n % 5 === 0) await remove(`books/${1 + (n % 13)}`)
      }
      for (let n = from; n < from + 40; n += 4) await Promise.all([0, 1, 2, 3].map((more) => writer(n + more)))
    }
    await write(0)
    const stop = start()
    await write(100)
    await until(isCopied)
    await write(200)
    await until(isCopied)
    await stop()
    await write(300)
    assert.not(await isCopied())
    const stopAgain = start()
    await until(isCopied)
    await write(400)
    resyncs = 1
    await write(500)
    await until(async () => resyncs < 1 && (await isCopied()))
    await stopAgain()
  })
}

test.after(closeServices)
test.run()
