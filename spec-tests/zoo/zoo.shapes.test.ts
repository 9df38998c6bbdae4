/** Projects of unusual shapes. */
import { runZoo } from './run.js'

await runZoo('shapes')
