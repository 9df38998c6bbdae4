/** `npm test`: runs the test files. */
import { runCommand } from '../support/options.js'
import { testCommand, testFiles } from './command.js'
import { runTests } from './runTests.js'
import { server } from './support/database.js'

await runCommand(testCommand('npm test'), (_, name) => runTests(testFiles(server ? 'postgres' : 'sqlite', name)))
