/** The storage options of the tests. */
export const storageOptions = {
  demo: true,
  cacheBytes: 2 ** 20,
  readTimeoutMs: 10_000,
  pool: { size: 4, waitMs: 5_000, idleMs: 1_000, statementMs: 10_000 },
  /** The tests of the contract run without derived objects too. */
  derivedObjects: process.env['DERIVED_OBJECTS'] !== 'false',
  progress: () => {},
  warn: () => {},
}
