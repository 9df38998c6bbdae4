/** The demo data is realistic and consistent. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { example } from './example.js'

const demo = (path: string): readonly RowValues[] => example.find((resource) => resource.path === path)?.demo ?? []
const byId = (path: string) => new Map(demo(path).map((row) => [row['id'], row]))

const test = suite('the demo data')

test('every table has demo rows, none has a password, and JSON in strings is valid', () => {
  for (const { demo: rows, path } of example) {
    assert.ok(rows.length >= 6, path)
    for (const row of rows) {
      assert.not.ok('password_hash' in row)
      for (const [name, value] of Object.entries(row)) if (name.endsWith('_json') && value) JSON.parse(String(value))
    }
  }
})

test('dates are in chronological order', () => {
  const inOrder = (path: string, ...names: string[]) => {
    for (const row of demo(path)) {
      const dates = names.map((name) => row[name]).filter((date) => date != null)
      assert.equal(dates, dates.toSorted(), `${path} ${row['id']}`)
    }
  }
  inOrder('leave', 'from_date', 'to_date')
  inOrder('employees', 'date_of_joining', 'termination_date')
  inOrder('jobs', 'opened_on', 'target_date')
  inOrder('applications', 'applied_on', 'stage_entered_on')
  inOrder('brands', 'created', 'updated')
})

test('stages and counts are consistent', () => {
  for (const job of demo('jobs')) {
    const hired = demo('applications').filter((row) => row['job_id'] === job['id'] && row['status'] === 'Hired')
    assert.is(hired.length, job['filled'], `job ${job['id']}`)
    assert.ok(Number(job['filled']) <= Number(job['headcount']))
  }
  for (const row of demo('applications')) assert.is(row['status'] === 'Rejected', row['rejection_reason'] != null)
  const candidates = byId('candidates')
  for (const { candidate_id: id } of demo('employees')) {
    if (id != null) assert.is(candidates.get(id)?.['status'], 'Hired')
  }
})

test.run()
