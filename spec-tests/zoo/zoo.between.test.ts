/** Projects with rules between fields. */
import { runZoo } from './run.js'

await runZoo('between')
