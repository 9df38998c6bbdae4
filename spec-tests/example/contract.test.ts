/** The API of the example is the recorded one, and its descriptions say what a client has to know. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { compareDocuments } from '../../cli/contract/compare.js'
import type { Difference } from '../../cli/contract/differences.js'
import type { Json } from '../../cli/contract/json.js'
import { reportOf } from '../../cli/contract/report.js'
import { documentsOf } from '../../engine/contract/documents.js'
import { operationsOf } from '../../engine/contract/operations.js'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { folders, product } from '../../product.js'

const root = dirname(folders.seeds)
const documents = documentsOf(product, operationsOf(await loadRegistry(folders)))
const openapi = JSON.parse(String(documents.openapi))
const swagger = JSON.parse(String(documents.swagger('')))

const test = suite('the API of the example')

test('docs/openapi.json is the API that the descriptors make', async () => {
  const recorded = JSON.parse(readFileSync(join(root, 'docs', 'openapi.json'), 'utf8')) as Json
  // A new resource is one file, and examples come from demo rows: both are recorded when they are accepted.
  const isFree = ({ rule, subject }: Difference) =>
    rule === 'operation-added' || rule === 'example-changed' || subject === 'the list of groups'
  const differences = compareDocuments(recorded, openapi)
  const stale = differences.filter((difference) => !isFree(difference))
  assert.is(stale.length, 0, reportOf(stale, false))
})

/** Sentences that the descriptions must contain. */
const statements = [
  ['LeaveRequestCreate.status', 'Default: `Pending`, also for null.'],
  ['LeaveRequestCreate.applied_on', 'Default: today’s date (UTC); null stays null.'],
  ['LeaveRequestCreate.from_date', 'Date, `YYYY-MM-DD`; any string is accepted.'],
  ['LeaveRequest.from_date', 'Date, `YYYY-MM-DD`.'],
  ['LeaveRequest.employee_id', 'References the `id` of a row of `/v1/employees`.'],
  ['CareerSite.created', 'UTC timestamp, `YYYY-MM-DDTHH:MM:SSZ`. Set by the service.'],
  ['CareerSiteCreate.is_active', 'Default: `1`, also for null.'],
  ['CareerSiteCreate.slug', 'Unique.'],
  ['RecruitmentBrandCreate.slug', 'Unique among rows with the same `organization_id`.'],
  ['JobDistribution.slug', 'Unique among rows with the same `career_site_id` and `locale`.'],
  ['JobDistributionCreate.published_at', 'UTC timestamp, `YYYY-MM-DDTHH:MM:SSZ`; any string is accepted.'],
  ['JobDistributionCreate.job_posting_id', 'References the `id` of a row of `/v1/jobs`.'],
  ['Employee.password_hash', 'Always null.'],
] as const
for (const [where, statement] of statements) {
  test(`${where}: ${statement}`, () => {
    const [schema = '', field = ''] = where.split('.')
    const { description } = openapi.components.schemas[schema].properties[field]
    assert.ok(description.includes(statement), description)
    assert.is(swagger.definitions[schema].properties[field].description, description)
  })
}

test('README.md shows a resource as it is', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  assert.ok(read('README.md').includes(read('resources/leave.ts')))
})

test.run()
