/** The Grafana dashboard and the documentation name only metrics and labels that exist. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../../product.js'
import { server } from '../support/database.js'
import { exercise, labelsOf, scrape, startMeasured } from '../support/metrics.js'

const root = dirname(folders.seeds)
const running = await startMeasured()
await exercise(running)
const scraped = await scrape(running)
await running.end('SIGTERM')
const known = labelsOf(scraped)

const test = suite('dashboard')

const dashboard = readFileSync(join(root, 'deploy', 'grafana-dashboard.json'), 'utf8')

test('every metric of the dashboard exists', () => {
  const names = [...dashboard.matchAll(/\b(?:registry|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)
  assert.ok(names.length > 20)
  for (const name of names) assert.ok(known.has(name), name)
})

test('the legends of the dashboard are labels of its metrics', () => {
  const labels = new Set([...known.values()].flatMap((all) => [...all]).concat('job', 'instance'))
  // SQLite has no pool, so its metrics have no sample.
  if (!server) labels.add('part')
  for (const [, label] of dashboard.matchAll(/\{\{(\w+)\}\}/g)) assert.ok(labels.has(String(label)), label)
})

test('the documentation lists exactly the metrics that exist', () => {
  const text = readFileSync(join(root, 'docs', 'observing.md'), 'utf8')
  const documented = [...text.matchAll(/^\| `(registry_\w+)`/gm)].map(([, name]) => name)
  const declared = [...scraped.matchAll(/^# TYPE (registry_\w+)/gm)].map(([, name]) => name)
  assert.equal(documented.toSorted(), declared.toSorted())
})

test.run()
