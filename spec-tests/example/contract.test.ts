/** The API of the example is the recorded one, with all that its descriptions say. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { compareDocuments } from '../../cli/contract/compare.js'
import type { Difference } from '../../cli/contract/differences.js'
import type { Json } from '../../cli/contract/json.js'
import { formatReport } from '../../cli/contract/report.js'
import { createDocuments } from '../../engine/contract/documents.js'
import { deriveOperations } from '../../engine/contract/operations.js'
import { root } from '../../support/root.js'
import { product } from '../support/testedProject.js'
import { example } from './example.js'

const documents = createDocuments(product, deriveOperations(example))
const openapi = JSON.parse(String(documents.openapi))
const swagger = JSON.parse(String(documents.swagger('')))

type Described = { properties?: Record<string, { description?: string }> }

const test = suite('the API of the example')

test('docs/openapi.json is the API that the descriptors make', async () => {
  const recorded = JSON.parse(readFileSync(join(root, 'docs', 'openapi.json'), 'utf8')) as Json
  // The recorded document has the resources that were accepted beside the twelve, and examples come from demo rows.
  const isFree = ({ rule, subject }: Difference) =>
    rule === 'operation-removed' ||
    rule === 'example-changed' ||
    subject === 'the list of groups' ||
    // Rows of the twelve that the others reference.
    (rule.endsWith('-removed') && subject.includes('expand'))
  const differences = compareDocuments(recorded, openapi)
  const stale = differences.filter((difference) => !isFree(difference))
  assert.is(stale.length, 0, formatReport(stale, false))
})

test('both documents describe every property alike', () => {
  for (const [schema, { properties = {} }] of Object.entries<Described>(swagger.definitions))
    for (const [name, { description }] of Object.entries(properties))
      assert.is(description, openapi.components.schemas[schema].properties[name].description, `${schema}.${name}`)
})

test('README.md shows a resource as it is', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  assert.ok(read('README.md').includes(read('resources/leave.ts')))
})

test.run()
