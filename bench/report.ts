/** What the benchmarks found, as a table in Markdown and a plain chart in SVG: ratios first, for times are a machine's own. */
import { cpus, release, totalmem } from 'node:os'
import type { Creates } from './creates.js'
import type { Ground } from './ground.js'
import type { Growth } from './growth.js'
import { kinds, type Measured } from './throughput.js'
import type { Unchanged } from './unchanged.js'

export interface Findings {
  readonly ground: Pick<Ground, 'report' | 'title' | 'command' | 'shared' | 'notes'>
  readonly generator: string
  readonly measured: readonly Measured[]
  /** The peers that could not take part, and why. */
  readonly missing: readonly { readonly name: string; readonly why: string }[]
  readonly unchanged: readonly Unchanged[]
  readonly creates: readonly Creates[]
  readonly growth:
    | {
        readonly rows: number
        readonly growths: readonly Growth[]
        readonly p99: number
        readonly megabytes: number | undefined
      }
    | undefined
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const ratio = (value: number): string => `${value.toFixed(2)} ×`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const rateOf = (measured: readonly Measured[], kind: string, server: string): number =>
  measured.find((one) => one.kind === kind && one.server === server)?.rate ?? 0

const throughputTable = ({ measured }: Findings): string => {
  const servers = [...new Set(measured.map(({ server }) => server))]
  const [us = ''] = servers
  const rows = servers.map((server) => [
    server,
    ...kinds.flatMap(({ name }) => {
      const rate = rateOf(measured, name, server)
      return [whole(rate), server === us ? '' : ratio(rateOf(measured, name, us) / rate)]
    }),
  ])
  return table(['requests a second', ...kinds.flatMap(({ name }) => [name, 'we are'])], rows)
}

const unchangedTable = ({ measured, unchanged }: Findings): string =>
  table(
    ['304', 'a second', 'of the page from memory', 'of a page that has to be read'],
    unchanged.map(({ server, rate, full }, nth) => {
      const fresh = rateOf(measured, kinds[1]?.name ?? '', server)
      // Only ours has pages of both kinds.
      return [server, whole(rate), ratio(full / rate), nth === 0 ? ratio(fresh / rate) : '']
    }),
  )

const machine = (): string => {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} cores (${cpu?.model.trim() || process.arch}), ${memory} GiB, Linux ${release()}, Node ${process.version}`
}

/** The report; each figure is the median of its rounds. */
export const markdown = (findings: Findings): string => {
  const { ground, generator, missing, creates, growth } = findings
  const parts = [
    `# ${ground.title}`,
    `![Requests a second](${ground.report}.svg)`,
    `Made by \`${ground.command}\` on ${machine()}, with ${generator}, sixteen connections, ${ground.shared} and at its own defaults; ours writes its log and sets its security headers. Read the ratios: the rates are this machine's alone.`,
    '## Reads',
    throughputTable(findings),
    ...missing.map(({ name, why }) => `${name} did not take part: ${why}.`),
    'A read that has not changed (304) costs, of the full answer:',
    unchangedTable(findings),
    '## Creates',
    'Each 201 is sent after its row is on disk; creates that arrive together share a sync.',
    table(
      ['creates a second', 'one client', '64 clients', 'together'],
      creates.map(({ disk, alone, together }) => [disk, whole(alone), whole(together), ratio(together / alone)]),
    ),
  ]
  if (growth) {
    parts.push(
      `## Growth to ${growth.rows.toLocaleString('en')} rows`,
      'Median milliseconds of a request, seen by one client; no answer is kept ready, and the data has been read before.',
      table(
        ['', 'demo data', `${growth.rows.toLocaleString('en')} rows`, 'growth'],
        growth.growths.map(({ kind, small, large }) => [
          kind,
          small.toFixed(2),
          large.toFixed(2),
          ratio(large / small),
        ]),
      ),
      `While four clients search for single letters over all rows, the 99th percentile of get-one is ${growth.p99.toFixed(1)} ms.${growth.megabytes === undefined ? '' : ` The process never held more than ${whole(growth.megabytes)} MB.`}`,
    )
  }
  parts.push(...ground.notes)
  return `${parts.join('\n\n')}\n`
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Bars of requests a second, a group for each kind of read. */
export const chart = ({ measured }: Findings): string => {
  const servers = [...new Set(measured.map(({ server }) => server))]
  const most = Math.max(...measured.map(({ rate }) => rate))
  const [labels, bars, barHeight, groupGap] = [190, 420, 18, 34]
  const groupHeight = servers.length * (barHeight + 4) + groupGap
  const rows = kinds.flatMap(({ name }, group) => {
    const top = 20 + group * groupHeight
    return [
      `<text x="0" y="${top}" font-weight="bold">${escaped(name)}</text>`,
      ...servers.map((server, index) => {
        const rate = rateOf(measured, name, server)
        const y = top + 8 + index * (barHeight + 4)
        const width = Math.max(1, Math.round((rate / most) * bars))
        const colour = index === 0 ? '#1d4ed8' : '#94a3b8'
        return `<text x="${labels - 8}" y="${y + 13}" text-anchor="end">${escaped(server)}</text><rect x="${labels}" y="${y}" width="${width}" height="${barHeight}" fill="${colour}"/><text x="${labels + width + 6}" y="${y + 13}">${whole(rate)}</text>`
      }),
    ]
  })
  const height = 20 + kinds.length * groupHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${labels + bars + 70} ${height}" font-family="sans-serif" font-size="12" fill="#334155">
<title>Requests a second, by kind of read and server</title>
<rect width="100%" height="100%" fill="white"/>
<text x="${labels + bars + 62}" y="12" text-anchor="end">requests a second</text>
${rows.join('\n')}
</svg>
`
}
