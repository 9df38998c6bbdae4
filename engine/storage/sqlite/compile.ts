/** SQL as a statement of SQLite. */
import { compiler } from '../sql.js'

export const compile = compiler(() => '?')
