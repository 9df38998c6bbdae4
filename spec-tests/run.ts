/** `npm test`: runs the test files. */
import { runCommand } from '../support/options.js'
import { testCommand, testFiles } from './command.js'
import { runTests } from './runTests.js'
import { server } from './support/database.js'

await runCommand(testCommand('npm test'), async (options, name, more) => {
  const names = name === undefined ? [] : [name, ...more]
  const files = await testFiles(server ? 'postgres' : 'sqlite', names, options)
  if (options.resource !== undefined) process.env['TEST_RESOURCE'] = options.resource
  await runTests(files)
})
