/** A few projects of the zoo, for every run. */
import { runZoo } from './run.js'

await runZoo('shifts,tariffs,singleton')
