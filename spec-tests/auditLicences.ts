/** `npm run audit:licences`: runs the test of the licences. */
import { runCommand } from '../support/options.js'
import { runTests } from './runTests.js'

const command = {
  name: 'npm run audit:licences',
  about: 'Checks the licences of all installed packages.',
  options: {},
  example: 'npm run audit:licences',
}

await runCommand(command, () => runTests(['project/licences.test.js']))
