/** The storage options of the tests. A machine that stands still for seconds fails none of them: tests of time limits set their own. */
export const storageOptions = {
  demo: true,
  cacheBytes: 2 ** 20,
  readTimeoutMs: 60_000,
  pool: { size: 4, waitMs: 30_000, idleMs: 1_000, statementMs: 60_000 },
  /** The tests of the contract run without derived objects too. */
  derivedObjects: process.env['DERIVED_OBJECTS'] !== 'false',
  progress: () => {},
  warn: () => {},
}
