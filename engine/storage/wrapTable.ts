/** Wraps a table, so that each of its methods runs inside the same function. */
import type { Table } from './storage.js'

/** The table may change between calls. */
export const wrapTable = (table: () => Table, run: <T>(work: () => Promise<T>) => Promise<T>): Table => ({
  tag: () => run(() => table().tag()),
  list: (query, caller) => run(() => table().list(query, caller)),
  async *stream(query, caller) {
    try {
      yield* table().stream(query, caller)
    } catch (error) {
      await run(() => Promise.reject(error))
    }
  },
  valueCounts: (...query) => run(() => table().valueCounts(...query)),
  excerpts: (ids, fields) => run(() => table().excerpts(ids, fields)),
  get: (id, caller) => run(() => table().get(id, caller)),
  hasKey: (key) => run(() => table().hasKey(key)),
  conflicts: (values, id) => run(() => table().conflicts(values, id)),
  referencing: (id) => run(() => table().referencing(id)),
  write: (write) => run(() => table().write(write)),
})
