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

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}
const dashboard = JSON.parse(readFileSync(join(root, 'deploy', 'grafana-dashboard.json'), 'utf8')) as {
  readonly panels: readonly (Panel & { readonly id: number })[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}

/** Added by Prometheus when it scrapes. */
const scrapeLabels = ['job', 'instance']

/** The metrics and labels that a PromQL expression uses; throws if it has something else. */
const parseExpr = (expr: string) => {
  const grouping: string[] = []
  const metrics = new Map<string, string[]>()
  const labelsIn = (text: string) => text.match(/\w+/g) ?? []
  const rest = expr
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .replaceAll(/\[(?:\$__rate_interval|\d+[smhd])\]/g, '')
    .replaceAll(/\b(?:by|without)\s*\(([^)]*)\)/g, (_, names: string) => {
      grouping.push(...labelsIn(names))
      return ''
    })
    .replaceAll(/\b[a-z_]+(?=\s*\()/g, '')
    .replaceAll(/([a-z]\w*)(\{[^}]*\})?/g, (_, name: string, matchers = '') => {
      metrics.set(name, [...(metrics.get(name) ?? []), ...labelsIn(matchers)])
      return ''
    })
  assert.match(rest, /^[\s\d.,()+*/-]*$/, `cannot parse ${expr}`)
  return { metrics, grouping }
}

const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })))

for (const { title, expr, legendFormat } of targets) {
  test(`the dashboard's panel "${title}" uses metrics and labels that exist: ${expr}`, () => {
    const { metrics, grouping } = parseExpr(expr)
    assert.ok(metrics.size > 0)
    const legend = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => String(label))
    for (const [name, matched] of metrics) {
      assert.ok(known.has(name), `${name} does not exist`)
      const labels = known.get(name) ?? new Set()
      // SQLite has no pool, so its metrics have no sample; the tests on PostgreSQL check their labels.
      if (!server && name.startsWith('registry_pool_')) continue
      for (const label of [...matched, ...grouping, ...legend]) {
        assert.ok(labels.has(label) || scrapeLabels.includes(label), `${name} has no label ${label}`)
      }
    }
    if (/\b(?:sum|max)\b/.test(expr)) for (const label of legend) assert.ok(grouping.includes(label), label)
  })
}

test('the variables of the dashboard use metrics that exist', () => {
  const variables = dashboard.templating.list.flatMap(({ definition }) => definition ?? [])
  assert.is(variables.length, 2)
  for (const definition of variables) {
    const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
    const { metrics } = parseExpr(selector)
    for (const name of metrics.keys()) assert.ok(known.has(name), name)
    assert.ok(scrapeLabels.includes(label), label)
  }
})

test('the panels of the dashboard have distinct ids', () => {
  const ids = dashboard.panels.map(({ id }) => id)
  assert.is(new Set(ids).size, ids.length)
})

test('the documentation lists exactly the metrics that exist', () => {
  const text = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
  const documented = [...text.matchAll(/^\| `(registry_\w+)`/gm)].map(([, name]) => name)
  const declared = [...scraped.matchAll(/^# TYPE (registry_\w+)/gm)].map(([, name]) => name)
  assert.equal(documented.toSorted(), declared.toSorted())
})

test.run()
