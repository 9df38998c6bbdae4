/** Lists of every resource with random filters, ranges, searches, orders and pages, compared with plain JavaScript. */
import * as assert from 'uvu/assert'
import { possibleConditions, possibleOrders } from '../../engine/descriptor/listQuery.js'
import { operatorOf } from '../../engine/descriptor/operators.js'
import { byId, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { Oracle, searchedText } from '../../support/oracle.js'
import { seededRandom } from '../../support/random.js'
import { publicRow } from '../../support/samples.js'
import { derivedSuite } from '../support/derivedSuite.js'
import { startService } from '../support/service.js'
import { eachProject } from '../support/tested.js'

const { below, pick } = seededRandom(20_261_118)

/** How many lists of each resource are compared. */
const lists = 40

type Parameters = [name: string, value: string][]

/** Up to two conditions with values that rows have, half of the time a search for a piece of a row, an order, and a page. */
const someParameters = (resource: Resource, rows: readonly RowValues[]): Parameters => {
  const row = () => pick(rows) ?? {}
  const conditions = possibleConditions(resource)
  const condition = (): Parameters => {
    const { field, operator, parameter } = pick(conditions)
    const { operand } = operatorOf(operator)
    if (operand === 'boolean') return [[parameter, pick(['true', 'false'])]]
    const values = Array.from({ length: operand === 'list' ? 1 + below(3) : 1 }, () => row()[field.name] ?? null)
    return values.flatMap((value): Parameters => (value === null ? [] : [[parameter, String(value)]]))
  }
  const search = (): Parameters => {
    const letters = Array.from(searchedText(resource, row()))
    const start = below(Math.max(letters.length, 1))
    return [['q', letters.slice(start, start + 1 + below(8)).join('')]]
  }
  return [
    ...(conditions.length > 0 ? Array.from({ length: below(3) }, condition).flat() : []),
    ...(below(2) === 0 ? search() : []),
    ['sort', pick(possibleOrders(resource))],
    ['limit', String(1 + below(200))],
    ['offset', String(pick([0, 0, below(rows.length + 1)]))],
  ]
}

await eachProject(async ({ resources, settings }) => {
  const { get } = await startService(settings)

  for (const resource of resources) {
    const test = derivedSuite('oracle', resource)
    const rows = resource.demo.map((row) => publicRow(resource, row)).sort(byId)
    const oracle = new Oracle()
    oracle.add(resource, rows)

    test('lists are what the oracle expects', async () => {
      for (let n = 0; n < lists; n++) {
        const parameters = someParameters(resource, rows)
        const query = new URLSearchParams(parameters).toString()
        const expected = oracle.list(
          resource,
          parameters.map(([name, value]) => ({
            name,
            written: encodeURIComponent(value),
            integer: /^-?\d+$/.test(value) ? BigInt(value) : undefined,
          })),
        )
        const { status, body } = await get(`/v1/${resource.path}?${query}`)
        if ('rejected' in expected) assert.is(status, 422, query)
        else {
          assert.equal(body.data, expected.data, query)
          assert.is(body.meta.total, expected.total, query)
        }
      }
    })

    test.run()
  }
})
