/** Brings the database of DATABASE_URL up to date without serving it, and checks its counts: `npm run migrate`. */
import { loadRegistry } from '../engine/descriptor/load.js'
import { readSettings } from '../engine/settings.js'
import { migrateStorage } from '../engine/storage/open.js'
import { folders } from '../product.js'
import { CommandError, flag, runCommand } from '../support/options.js'
import { progressBar } from '../support/progress.js'

const command = {
  name: 'npm run migrate',
  about: 'Creates what the database of DATABASE_URL lacks, without serving it, and compares its counts with its rows.',
  options: {
    recount: flag('count the rows again where the stored counts differ from them'),
  },
  example: 'DATABASE_URL=postgres://owner:secret@localhost:5432/workforce npm run migrate',
}

/** Tables with fewer rows than this are done before a bar could be read. */
const manyRows = 100_000

/** A progress bar for each step of a large table. */
const reporter = () => {
  let current: { table: string; done: number; report: (done: number) => void } | undefined
  return (table: string, done: number, total: number): void => {
    if (total < manyRows) return
    if (current?.table !== table || done < current.done)
      current = { table, done, report: progressBar(table, total, 'rows') }
    current.done = done
    current.report(done)
  }
}

await runCommand(command, async ({ recount }) => {
  const { DATABASE_URL: url, POOL_WAIT_MS: waitMs } = readSettings(process.env)
  if (url === 'sqlite::memory:') {
    throw new CommandError('DATABASE_URL is sqlite::memory:, which is lost when the command ends; use a file.')
  }
  const registry = await loadRegistry(folders)
  const { steps, drifted } = await migrateStorage(registry, url, {
    waitMs,
    isRecounting: recount,
    progress: reporter(),
    warn: console.warn,
  })
  for (const { about } of steps) console.log(`Done: ${about}.`)
  if (steps.length === 0) console.log('The database is up to date.')
  for (const { table } of drifted) {
    console.log(`The stored counts of the table "${table}" differed from its rows${recount ? '; counted again' : ''}.`)
  }
  if (drifted.length === 0) console.log(`The stored counts of all ${registry.length} tables match their rows.`)
  else if (!recount) throw new CommandError('Some counts are wrong: run npm run migrate -- --recount.')
})
