/** The commands of the package, each loaded when it is run. */
import type { Command } from '../support/options.js'
import { commandNames } from './commandNames.js'

type Load = () => Promise<{ readonly default: Command }>

/** The file of a command has its name; `start` is the service. */
const fileOf = (name: string): string => (name === 'start' ? '../server.js' : `./${name}.js`)

export const commands: Readonly<Record<string, Load>> = Object.fromEntries(
  commandNames.map((name): [string, Load] => [name, () => import(fileOf(name))]),
)
