/** The options of a trial: whole numbers, each with a default; a wrong one is told and ends the trial before it begins. */
import { parseArgs } from 'node:util'

/** The numbers that the command line gives, or their defaults. */
export const numbersFrom = <Name extends string>(defaults: Readonly<Record<Name, number>>): Record<Name, number> => {
  const names = Object.keys(defaults) as Name[]
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    const { values } = parseArgs({ options })
    const read = names.map((name) => {
      const given = values[name] ?? String(defaults[name])
      if (/^\d{1,10}$/.test(given)) return [name, Number(given)]
      throw new Error(`--${name} is "${given}", but it takes a whole number`)
    })
    return Object.fromEntries(read)
  } catch (error) {
    console.error(`${(error as Error).message}\nThe options are ${names.map((name) => `--${name}`).join(', ')}.`)
    process.exit(2)
  }
}
