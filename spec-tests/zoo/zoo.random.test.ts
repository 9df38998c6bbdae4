/** Random projects. */
import { runZoo } from './run.js'

await runZoo('random 1 12')
