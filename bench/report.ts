/** Formats the results as Markdown. */
import { cpus, release, totalmem } from 'node:os'
import { type ChangesTime, kindNames } from './changes.js'
import type { Growth } from './growth.js'
import type { ImportRates } from './imports.js'
import type { OperationRates } from './operations.js'
import type { RightsTime } from './rights.js'
import type { BenchTarget } from './targets.js'
import { kinds, type Measured } from './throughput.js'

interface Results {
  readonly target: Pick<BenchTarget, 'system' | 'command' | 'setup' | 'notes'>
  readonly measured: readonly Measured[]
  /** The peers that could not run. */
  readonly unavailable: readonly { readonly name: string; readonly reason: string }[]
  readonly imports: ImportRates
  readonly operations: OperationRates
  readonly rights: readonly RightsTime[]
  readonly changes: ChangesTime
  readonly growth: { readonly rows: number; readonly growths: readonly Growth[] }
}

const rounded = (value: number): string => Math.round(value).toLocaleString('en')
const ratio = (value: number): string => `${value.toFixed(2)} ×`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const serverNames = (measured: readonly Measured[]): string[] => [...new Set(measured.map(({ server }) => server))]

const throughputTable = (measured: readonly Measured[]): string => {
  const servers = serverNames(measured)
  const rateOf = (kind: string, server = servers[0]) =>
    measured.find((load) => load.kind === kind && load.server === server)?.rate ?? 0
  const rows = servers.map((server, index) => [
    server,
    ...Object.keys(kinds).flatMap((kind) => {
      const rate = rateOf(kind, server)
      return [rounded(rate), index === 0 ? '' : ratio(rateOf(kind) / rate)]
    }),
  ])
  return table(['requests per second', ...Object.keys(kinds).flatMap((kind) => [kind, 'ratio'])], rows)
}

const cpuTable = (measured: readonly Measured[]): string => {
  const rows = serverNames(measured).map((name) => [
    name,
    ...Object.keys(kinds).map((kind) =>
      rounded(measured.find((load) => load.kind === kind && load.server === name)?.cpu ?? 0),
    ),
  ])
  return table(['µs of CPU time per request', ...Object.keys(kinds)], rows)
}

const machine = (): string => {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} cores (${cpu?.model.trim() || process.arch}), ${memory} GiB, Linux ${release()}, Node ${process.version}`
}

export const operationsPart = ({ operation, batch, hot }: OperationRates): string =>
  [
    '### Custom operations',
    `One client, an operation that reads two rows and writes both: ${rounded(operation)} a second. A batch of the two writes alone: ${rounded(batch)} a second, ${ratio(batch / operation)}. Then many clients, whose operations all change the same row and another one:`,
    table(
      ['clients', 'stored per second', 'failed', 'lost updates'],
      hot.map(({ clients, rate, failures, lost }) => [String(clients), rounded(rate), rounded(failures), String(lost)]),
    ),
  ].join('\n\n')

export const rightsPart = (times: readonly RightsTime[]): string => {
  const rules = [...new Set(times.map(({ rule }) => rule))]
  const shares = [...new Set(times.map(({ share }) => share))]
  const cells = (rule: string) =>
    shares.flatMap((share) => {
      const timeOf = (of: string) => times.find((time) => time.rule === of && time.share === share) as RightsTime
      const [time, copied] = [timeOf(rule), timeOf(rules[0] as string)]
      return [
        `${time.first.toFixed(1)} (${ratio(time.first / copied.first)})`,
        `${time.next.toFixed(1)} (${ratio(time.next / copied.next)})`,
      ]
    })
  return [
    '### Rules that follow references',
    'Milliseconds of a page with its total, and of the page that its `Link` names, of 300,000 items in 30,000 loans of 5,000 borrowers, of which the caller sees a part; beside it, what that takes by a column that is copied into each item.',
    table(
      ['', ...shares.flatMap((share) => [`${share / 10} % visible`, 'next page'])],
      rules.map((rule) => [rule, ...cells(rule)]),
    ),
  ].join('\n\n')
}

export const changesPart = ({ creates, updates, page, history }: ChangesTime): string => {
  const cells = (rates: ChangesTime['creates']) =>
    kindNames.map((name) => `${rounded(rates[name])} (${ratio(rates[name] / rates.neither)})`)
  const times = ([empty, long]: ChangesTime['page']) => [empty.toFixed(2), long.toFixed(2), ratio(long / empty)]
  return [
    '### The log of changes',
    'Creates and updates a second of sixteen clients, of resources with `changes`, with `history`, with both and with neither; beside it, the part of those of a resource with neither.',
    table(
      ['', ...kindNames],
      [
        ['creates', ...cells(creates)],
        ['updates', ...cells(updates)],
      ],
    ),
    'Milliseconds of a page of 100 changes and of the history of a row, in a new log, and at the end of one with a million entries.',
    table(
      ['', 'new log', 'a million entries', 'ratio'],
      [
        ['a page of changes', ...times(page)],
        ['a history', ...times(history)],
      ],
    ),
  ].join('\n\n')
}

/** The section of one database system in docs/benchmarks.md. */
export const markdown = ({
  target,
  measured,
  unavailable,
  imports,
  operations,
  rights,
  changes,
  growth,
}: Results): string => {
  const parts = [
    `## ${target.system}`,
    `Created by \`${target.command}\` on ${machine()}, with wrk and sixteen connections, ${target.setup}, each with its default settings; this service writes its log and sets security headers.`,
    '### Reads',
    throughputTable(measured),
    'CPU time of the process, user and system, of all its threads; it depends less than the rate on what else the machine does:',
    cpuTable(measured),
    ...unavailable.map(({ name, reason }) => `${name} was not measured: ${reason}.`),
    '### Imports',
    `Rows of a made-up resource: 5,000 that sixteen clients create one by one, then an import of 10,000, while another client reads. A row costs ${ratio(imports.single / imports.imported)} of a created one.`,
    table(
      ['created per second', 'imported per second', 'longest read meanwhile'],
      [[rounded(imports.single), rounded(imports.imported), `${rounded(imports.longestRead)} ms`]],
    ),
    operationsPart(operations),
    rightsPart(rights),
    changesPart(changes),
    `### Growth to ${growth.rows.toLocaleString('en')} rows`,
    'Median latency in milliseconds for one client, with the response cache off and the data already read from disk.',
    table(
      ['', 'demo data', `${growth.rows.toLocaleString('en')} rows`, 'growth'],
      growth.growths.map(({ kind, small, large }) => [kind, small.toFixed(2), large.toFixed(2), ratio(large / small)]),
    ),
    ...target.notes,
  ]
  return `${parts.join('\n\n')}\n`
}

/** The page with the section of one database system replaced, or added at the end. */
export const withSection = (page: string, section: string): string => {
  const [heading = ''] = section.split('\n', 1)
  const [opening = '', ...sections] = page.split(/\n(?=## )/)
  const others = sections.map((other) => (other.startsWith(`${heading}\n`) ? section.trimEnd() : other.trimEnd()))
  const isNew = !others.includes(section.trimEnd())
  return `${[opening.trimEnd(), ...others, ...(isNew ? [section.trimEnd()] : [])].join('\n\n')}\n`
}
