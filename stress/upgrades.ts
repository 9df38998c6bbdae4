/** `npm run upgrades`: migrates a large table on PostgreSQL while clients create rows, and reports the slowest create. */
import { CommandError, integer, runCommand } from '../support/options.js'

const command = {
  name: 'npm run upgrades',
  about:
    'Migrates a large table on a temporary PostgreSQL server while clients create rows, and reports the slowest create.',
  options: {
    rows: integer('rows of the table', 1_000_000, { max: 100_000_000 }),
    limit: integer('milliseconds that a create may take', 1_000),
  },
  example: 'npm run upgrades -- --rows 100000',
}

await runCommand(command, async ({ rows, limit }) => {
  const { upgradeTest } = await import('./upgradeTest.js')
  let isSlow = false
  await upgradeTest(rows, ({ name, seconds, creates, slowestMs }) => {
    isSlow ||= slowestMs > limit
    console.log(`${name}: ${seconds} s; ${creates} creates during it, the slowest took ${slowestMs} ms`)
  })
  if (isSlow) throw new CommandError(`A create took more than ${limit} ms.`)
  process.exit(0)
})
