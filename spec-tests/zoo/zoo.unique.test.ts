/** Projects with unique values. */
import { runZoo } from './run.js'

await runZoo('unique')
