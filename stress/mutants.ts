/** `npm run mutants`: breaks one rule of the service at a time and requires that the tests notice. */
import { CommandError, integer, runCommand, text } from '../support/options.js'

const command = {
  name: 'npm run mutants',
  about: 'Breaks one rule of the service at a time, in a copy of the build, and requires that its tests fail.',
  options: {
    only: text('run the mutants whose name contains this', 'NAME', 'all'),
    jobs: integer('how many run at a time', 2, { max: 64 }),
  },
  example: 'npm run mutants -- --only auth',
}

await runCommand(command, async ({ only, jobs }) => {
  const { chooseMutants, runMutants } = await import('./mutating.js')
  const chosen = chooseMutants(only === 'all' ? '' : only)
  const width = Math.max(...chosen.map(({ name }) => name.length))
  const { killed, survived } = await runMutants(chosen, jobs, ({ mutant, isKilled, reason }) => {
    console.log(`${isKilled ? 'killed  ' : 'SURVIVED'}  ${mutant.name.padEnd(width)}  ${reason}`)
  })
  for (const { name, rule, file } of survived) console.error(`${name}: no test defends "${rule}" (${file}).`)
  console.log(`${killed.length} killed, ${survived.length} survived`)
  if (survived.length > 0) throw new CommandError('Add the missing tests, or correct the mutants.')
})
