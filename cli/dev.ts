/** Serves, and restarts when a file of the project changes and has no errors. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, watch } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { commandLine } from '../engine/process/commandLine.js'
import { defineCommand } from '../support/options.js'
import { projectFolder } from './project.js'

const command = {
  name: 'dev',
  about: 'Serves, and restarts when a file changes. With errors in a file, the last good version keeps running.',
  options: {},
  notes: `It watches resources/, operations/, hooks/, seeds/ and the TypeScript files beside package.json. Settings are environment variables, as for ${commandLine('start')}.`,
  exampleSettings: 'PORT=4000',
  example: '',
}

/** Milliseconds to wait for more changes before a restart. */
const settleMs = 150

const main = join(import.meta.dirname, 'main.js')

/** What a program printed, or undefined if it succeeded. */
const failureOf = async (child: ChildProcess): Promise<{ stdout: string; stderr: string } | undefined> => {
  const { stdout, stderr } = child
  if (!stdout || !stderr) return undefined
  const [[code], printed, errors] = await Promise.all([once(child, 'close'), text(stdout), text(stderr)])
  return code === 0 ? undefined : { stdout: printed, stderr: errors }
}

/** The compiler of the project, if it has one. */
const compilerPath = (): string | undefined => {
  try {
    return join(
      dirname(createRequire(join(projectFolder(), 'package.json')).resolve('typescript/package.json')),
      'bin',
      'tsc',
    )
  } catch {
    return undefined
  }
}

/** Prints type errors, which Node does not find; a newer change cancels the check. */
const typeChecker = () => {
  const folder = mkdtempSync(join(tmpdir(), 'types-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  let running: ChildProcess | undefined
  const check = async (): Promise<void> => {
    running?.kill()
    const compiler = existsSync(join(projectFolder(), 'tsconfig.json')) ? compilerPath() : undefined
    if (compiler === undefined) return
    const options = ['--noEmit', '--incremental', '--tsBuildInfoFile', join(folder, 'state')]
    const child = spawn(process.execPath, [compiler, ...options, ...(process.stderr.isTTY ? ['--pretty'] : [])])
    running = child
    const failure = await failureOf(child)
    if (failure && child.signalCode === null) console.error(`The types have errors:\n${failure.stdout.trimEnd()}`)
  }
  return { check, stop: () => running?.kill() }
}

/** Whether the project can be served; prints its errors. */
const isGood = async (): Promise<boolean> => {
  const failure = await failureOf(spawn(process.execPath, [main, 'check']))
  if (!failure) return true
  console.error(`${failure.stdout}${failure.stderr}`.trimEnd())
  // A start that does not load the demo rows does not need them to be valid.
  return !/^(?!seeds\/)\S+?:/m.test(failure.stdout) && failure.stdout !== ''
}

/** Calls back when a file of the project changes, in folders that are created later too. */
const watchProject = (onChange: () => void): void => {
  const watched = new Set<string>()
  const watchFolders = (): void => {
    for (const name of ['resources', 'operations', 'hooks', 'seeds'].filter((folder) => existsSync(folder))) {
      // One watcher per folder: recursive watching misses new files on some systems.
      const inside = readdirSync(name, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
      for (const folder of [name, ...inside.map((entry) => join(entry.parentPath ?? entry.path, entry.name))]) {
        if (watched.has(folder)) continue
        watched.add(folder)
        watch(folder, changed).on('close', () => watched.delete(folder))
      }
    }
  }
  const changed = (): void => {
    watchFolders()
    onChange()
  }
  watch('.', (_, name) => {
    if (/^(?:resources|operations|hooks|seeds|[^.].*\.ts|package\.json|tsconfig\.json)$/.test(name ?? '')) changed()
  })
  watchFolders()
}

export default defineCommand(command, async () => {
  process.chdir(projectFolder())
  const types = typeChecker()
  let service: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let isUpdating = false
  let isOutdated = false
  // Whoever is signed in stays so over the restarts.
  const env = { ...process.env, SESSION_SECRET: process.env['SESSION_SECRET'] || randomBytes(32).toString('base64url') }

  const reportWaiting = () =>
    console.error(
      `${service ? 'The last good version keeps running' : 'The service does not run'}; waiting for a change.`,
    )
  const start = (): void => {
    const child = spawn(process.execPath, [...process.execArgv, main, 'start'], { stdio: 'inherit', env })
    service = child
    child.on('exit', () => {
      if (service !== child) return
      service = undefined
      reportWaiting()
    })
  }
  const stop = async (): Promise<void> => {
    const child = service
    if (!child) return
    service = undefined
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  const update = async (): Promise<void> => {
    isOutdated = true
    if (isUpdating) return
    isUpdating = true
    while (isOutdated) {
      isOutdated = false
      if (await isGood()) {
        await stop()
        start()
      } else reportWaiting()
    }
    isUpdating = false
    await types.check()
  }

  watchProject(() => {
    clearTimeout(timer)
    timer = setTimeout(update, settleMs)
  })
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      service?.kill('SIGTERM')
      types.stop()
      process.exit(0)
    })
  }
  await update()
})
