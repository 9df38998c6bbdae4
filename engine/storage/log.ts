/**
 * The log of changes: an entry for each change of a row, which triggers write, whichever program has made the change. What the feed of
 * changes, the history of a row and webhooks tell is read from it.
 */
import { historyDays } from '../descriptor/logging.js'
import { isLogged, type Registry, type Resource } from '../descriptor/registry.js'

export const logTable = 'registry_log'

/** On SQLite, the caller of the transaction that writes; PostgreSQL has a setting for it. */
export const callerTable = 'registry_caller'
export const callerSetting = 'registry.caller'

/** What an entry is about: a row, or all of a table, of which nothing is known from before. */
export type LogOperation = 'create' | 'update' | 'delete' | 'reset'

/** For how many days the entries of a resource are kept. */
export const keptDays = (resource: Resource, changesDays: number): number => historyDays(resource) ?? changesDays

export const loggedResources = (registry: Registry): Resource[] => registry.filter(isLogged)
