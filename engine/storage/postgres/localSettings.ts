/** Settings for one transaction, for a connection whose server session changes from one transaction to the next. */
import {
  type ClientBase,
  escapeLiteral,
  Query,
  type QueryArrayConfig,
  type QueryArrayResult,
  type Submittable,
} from 'pg'
import type { SessionSettings } from './address.js'

/** SQL that applies settings until the transaction ends. */
export const localSettings = (settings: SessionSettings): string => {
  const calls = Object.entries(settings).map((pair) => `set_config(${pair.map(escapeLiteral).join(', ')}, true)`)
  return `select ${calls.join(', ')}`
}

/** The connection of the driver, as its queries use it. */
interface Wire {
  parse(message: { text: string; name: string; types: readonly number[] }): void
  bind(message: { values: readonly unknown[] }): void
  execute(message: object): void
  close(message: { type: 'S'; name: string }): void
  readonly parsedStatements: Record<string, string>
}

/** The driver's query, with the methods that its types leave out. */
interface WireQuery extends Submittable {
  readonly name?: string
  prepare(connection: Wire): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Wire): void
  handleError(error: Error, connection: Wire): void
}
type Callback = (error: Error | undefined, result: QueryArrayResult<never>) => void
const DriverQuery = Query as unknown as new (
  config: QueryArrayConfig & { queryMode: 'extended' },
  callback: Callback,
) => WireQuery

/**
 * Sends the settings before the statement and one Sync after both. All messages before a Sync are one transaction, so this takes one
 * round trip, and the server's timer restarts with the new timeout at the statement.
 */
class QueryWithSettings extends DriverQuery {
  readonly #settings: string
  #isStarted = false

  constructor(settings: string, config: QueryArrayConfig, callback: Callback) {
    super({ ...config, queryMode: 'extended' }, callback)
    this.#settings = settings
  }

  override prepare(connection: Wire): void {
    connection.parse({ text: this.#settings, name: '', types: [] })
    connection.bind({ values: [] })
    connection.execute({})
    if (this.name && !connection.parsedStatements[this.name]) connection.close({ type: 'S', name: this.name })
    super.prepare(connection)
  }

  /** The first result is that of the settings. */
  override handleDataRow(message: unknown): void {
    if (this.#isStarted) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#isStarted) super.handleCommandComplete(message, connection)
    this.#isStarted = true
  }

  /** The driver takes the reply to the first parse for that of the second, so after an error the statement is parsed again. */
  override handleError(error: Error, connection: Wire): void {
    if (this.name) delete connection.parsedStatements[this.name]
    super.handleError(error, connection)
  }
}

/** Runs one statement as a transaction, with settings. */
export const queryWithSettings = (client: ClientBase, settings: string, config: QueryArrayConfig) =>
  new Promise<QueryArrayResult<never>>((resolve, reject) => {
    client.query(new QueryWithSettings(settings, config, (error, result) => (error ? reject(error) : resolve(result))))
  })
