/** Serves while you work: builds and restarts whenever something that is served changes. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

// Each folder by itself: watching recursively misses files that come and go on some systems.
const folders = readdirSync('engine', { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
const inside = folders.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
const watched = ['engine', ...inside, 'resources', 'seeds', 'server.ts', 'product.ts']
const settle = 150

let server
let timer

const start = () => {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  if (status === 0) server = spawn(process.execPath, ['--enable-source-maps', 'dist/server.js'], { stdio: 'inherit' })
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
