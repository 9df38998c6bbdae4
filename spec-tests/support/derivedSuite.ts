/** Suites of tests that follow from a resource: a test without a sample is skipped, and one that fails says how to run it alone. */
import { suite } from 'uvu'
import type { Resource, RowValues } from '../../engine/descriptor/registry.js'
import { NoSample } from '../../engine/descriptor/sampleRows.js'
import { commandLine } from '../../engine/process/commandLine.js'
import { skips } from '../../support/skips.js'

/** What the test that runs has made. */
export const currentTest = {
  /** The last body. */
  sample: undefined as RowValues | undefined,
  /** The rows that must stay. */
  held: new Set<string>(),
}

/** What a search finds; undefined if there is none. */
export const ifFound = <T>(search: Promise<T>): Promise<T | undefined> =>
  search.catch((error) => {
    if (error instanceof NoSample) return undefined
    throw error
  })

const explain = (error: unknown, { path }: Resource): void => {
  if (!(error instanceof Error)) return
  const { sample } = currentTest
  const zoo = process.env['TEST_ZOO']
  const command =
    zoo === undefined
      ? commandLine('test', `--resource ${path}`)
      : `TEST_ZOO='${zoo}' TEST_RESOURCE=${path} npm test -- zoo.few`
  const { stack = '' } = error
  error.message += `\n    Resource: ${path}${sample ? `\n    Sample: ${JSON.stringify(sample)}` : ''}\n    Run it alone: ${command}`
  // As it was: it has the message too.
  error.stack = stack
}

export const derivedSuite = (title: string, resource: Resource) => {
  const name = `${title} ${resource.path}`
  const own = suite(name)
  const test = (what: string, check: () => Promise<void> | void): void =>
    own(what, async () => {
      Object.assign(currentTest, { sample: undefined, held: new Set() })
      try {
        await check()
      } catch (error) {
        if (error instanceof NoSample) {
          skips.push({ suite: name, test: what, why: error.message })
          return
        }
        explain(error, resource)
        throw error
      }
    })
  return Object.assign(test, { run: () => own.run() })
}
