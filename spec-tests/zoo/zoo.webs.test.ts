/** Projects with many references. */
import { runZoo } from './run.js'

await runZoo('webs')
