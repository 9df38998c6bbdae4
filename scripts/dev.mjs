/** Serves while you work: builds and restarts whenever something that is served changes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { BuildError, build } from './build.mjs'
import { takeNoArguments } from './takeNoArguments.mjs'

takeNoArguments(
  'Usage: npm run dev\n\nServes, and builds and restarts on every change. Settings are environment variables, as for npm start.\n\nExample: PORT=4000 npm run dev',
)
process.chdir(dirname(import.meta.dirname))

// Each folder by itself: watching recursively misses files that come and go on some systems.
const folders = readdirSync('engine', { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
const inside = folders.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
const watched = ['engine', ...inside, 'resources', 'seeds', 'server.ts', 'product.ts']
const settle = 150

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
  const ending = server
  server = undefined
  if (ending && ending.exitCode === null) {
    ending.kill('SIGTERM')
    await once(ending, 'exit')
  }
  if (!server) start()
}

for (const path of watched) {
  watch(path, () => {
    clearTimeout(timer)
    timer = setTimeout(restart, settle)
  })
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    server?.kill('SIGTERM')
    process.exit(0)
  })
}
start()
