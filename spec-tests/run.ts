/** `npm test`: runs the test files. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineCommand, runCommand } from '../support/options.js'
import { ownTests } from '../support/ownTests.js'
import { root } from '../support/root.js'
import { runTests } from '../support/runTests.js'
import { testCommand, testFiles } from './command.js'
import { server } from './support/database.js'

await runCommand(
  defineCommand(testCommand('test'), async (options, name, more) => {
    const names = name === undefined ? [] : [name, ...more]
    const files = await testFiles(server ? 'postgres' : 'sqlite', names, options)
    if (options.resource !== undefined) process.env['TEST_RESOURCE'] = options.resource
    if (options.all) process.env['TEST_ALL'] = 'true'
    process.env['TEST_SINK'] = pathToFileURL(join(import.meta.dirname, 'support', 'kitchenSink.js')).href
    // Whoever keeps the resources in a clone has own tests beside them.
    const own = names.length === 0 && options.resource === undefined ? [ownTests(root)] : []
    await runTests([{ folder: import.meta.dirname, files }, ...own], { hasTimes: options.times })
  }),
)
