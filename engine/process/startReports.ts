/** Reports what happens to the database while the service starts. */

import type { Resource } from '../descriptor/registry.js'
import { commandLine } from './commandLine.js'
import { publicDatabaseUrl } from './databaseUrl.js'
import { notices } from './log.js'
import { progressBar, stepProgress } from './progress.js'

export const reportOpened = (
  url: string,
  { created, demo, driver, changes }: { created: boolean; demo: boolean; driver?: string; changes: readonly string[] },
): void => {
  const database = publicDatabaseUrl(url)
  const what = url.startsWith('sqlite:') ? `the database ${database}` : `the tables in ${database}`
  const message = created
    ? `Created ${what}, ${demo ? 'with the demo data' : 'without demo data'}.`
    : `Opened the database ${database}${demo ? ' and loaded the demo data into its empty tables' : ''}.`
  notices.info({ database, created, demo, driver }, message)
  for (const change of changes) notices.info({ change }, `Changed ${change}.`)
}

/** Reports the resources with demo rows whose table is empty: demo rows are only loaded into a database without rows. */
export const reportUnfilled = (empty: readonly Resource[]): void => {
  const paths = empty.filter(({ demo }) => demo.length > 0).map(({ path }) => path)
  if (paths.length === 0) return
  notices.info(
    { unfilled: paths },
    `Demo rows were not loaded for ${paths.join(', ')}, because other tables have rows. To load them: ${commandLine('seed', `--demo ${paths.join(',')}`)}`,
  )
}

/** Reports the progress of indexing existing rows if it takes long: a bar in a terminal, otherwise a notice once a second. */
export const reportIndexing = stepProgress(
  process.stdout.isTTY
    ? undefined
    : (table, total) =>
        progressBar(`Indexing ${table}`, total, 'rows', {
          now: () => performance.now(),
          isTerminal: false,
          intervalMs: 1_000,
          write: (text, done) => notices.info({ table, done, total }, text.trimEnd()),
        }),
)
