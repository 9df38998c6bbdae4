/** `npm run dev`: serves, and rebuilds and restarts when a source file changes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { BuildError, build } from './build.mjs'
import { rejectArguments } from './rejectArguments.mjs'

rejectArguments(
  'Usage: npm run dev\n\nServes, and rebuilds and restarts when a file changes. Settings are environment variables, as for npm start.\n\nExample: PORT=4000 npm run dev',
)
process.chdir(dirname(import.meta.dirname))

// One watcher per folder: recursive watching misses new files on some systems.
const folders = readdirSync('engine', { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
const inside = folders.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
const watched = ['engine', ...inside, 'resources', 'seeds', 'server.ts', 'product.ts']
/** Milliseconds to wait for more changes before a restart. */
const settleMs = 150

let server
let timer

const start = () => {
  try {
    const args = ['--enable-source-maps', join(build(), 'server.js')]
    server = spawn(process.execPath, args, { stdio: 'inherit' })
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    console.error(error.message)
  }
}

const restart = async () => {
  const previous = server
  server = undefined
  if (previous && previous.exitCode === null) {
    previous.kill('SIGTERM')
    await once(previous, 'exit')
  }
  if (!server) start()
}

for (const path of watched) {
  watch(path, () => {
    clearTimeout(timer)
    timer = setTimeout(restart, settleMs)
  })
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    server?.kill('SIGTERM')
    process.exit(0)
  })
}
start()
