#!/usr/bin/env node
/** The command line of the package: `resource-registry-engine COMMAND`, or `resource-registry COMMAND`. */
import { nearest } from '../engine/descriptor/nearest.js'
import { alignedLines, runCommand, UsageError } from '../support/options.js'
import { commands } from './commands.js'
import { engineManifest } from './manifest.js'

const formatCommands = async (): Promise<string> => {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  const lines = loaded.map(({ default: { definition } }) => [definition.name, definition.about] as const)
  return `Usage: npx resource-registry-engine COMMAND\n\n${alignedLines(lines)}\n\nEvery command has its own help: npx resource-registry-engine start --help`
}

const run = async ([name = '--help', ...args]: readonly string[]): Promise<void> => {
  if (name === '--help' || name === '-h') return console.log(await formatCommands())
  if (name === '--version' || name === '-v') return console.log(engineManifest().version)
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load) return (await load()).default.run(args)
  const near = nearest(name, Object.keys(commands))
  throw new UsageError(`There is no command "${name}". ${near ? `Did you mean ${near}?` : 'See --help.'}`)
}

// Errors name the lines of the sources.
process.setSourceMapsEnabled(true)
await runCommand({ run })
