/** Reports what happens to the database while the service starts. */
import { publicDatabaseUrl } from './databaseUrl.js'
import type { Resource } from './descriptor/registry.js'
import { notices } from './log.js'

/** Reports that the database was created or opened. */
export const reportOpened = (url: string, { created, demo }: { created: boolean; demo: boolean }): void => {
  const database = publicDatabaseUrl(url)
  const what = url.startsWith('sqlite:') ? `the database ${database}` : `the tables in ${database}`
  const message = created
    ? `Created ${what}, ${demo ? 'with the demo data' : 'without demo data'}.`
    : `Opened the database ${database}${demo ? ', which was empty, and loaded the demo data' : ''}.`
  notices.info({ database, created, demo }, message)
}

/** Reports the resources whose table is empty although there are demo rows, which only a database without rows gets. */
export const reportUnfilled = (empty: readonly Resource[]): void => {
  const paths = empty.filter(({ demo }) => demo.length > 0).map(({ path }) => path)
  if (paths.length === 0) return
  notices.info(
    { unfilled: paths },
    `Demo rows were not loaded for ${paths.join(', ')}, because other tables have rows. To load them: npm run seed -- --demo ${paths.join(',')}`,
  )
}

let lastReport = 0

/** Reports the progress of indexing existing rows, at most once per second, and only if it takes long. */
export const reportIndexing = (table: string, done: number, total: number): void => {
  if (total < 100_000 || Date.now() - lastReport < 1000) return
  lastReport = Date.now()
  const rows = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} rows`
  notices.info({ table, done, total }, `Indexing ${table}: ${rows}`)
}
