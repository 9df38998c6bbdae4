/** Formats the results as Markdown and as an SVG chart. */
import { cpus, release, totalmem } from 'node:os'
import type { Growth } from './growth.js'
import type { BenchTarget } from './target.js'
import { kinds, type Measured } from './throughput.js'

export interface Results {
  readonly target: Pick<BenchTarget, 'chartName' | 'system' | 'command' | 'setup' | 'notes'>
  readonly generator: string
  readonly measured: readonly Measured[]
  /** The peers that could not run. */
  readonly unavailable: readonly { readonly name: string; readonly reason: string }[]
  readonly growth: { readonly rows: number; readonly growths: readonly Growth[] }
}

const rounded = (value: number): string => Math.round(value).toLocaleString('en')
const ratio = (value: number): string => `${value.toFixed(2)} ×`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const rateOf = (measured: readonly Measured[], kind: string, server: string): number =>
  measured.find((one) => one.kind === kind && one.server === server)?.rate ?? 0

const throughputTable = ({ measured }: Results): string => {
  const servers = [...new Set(measured.map(({ server }) => server))]
  const [service = ''] = servers
  const rows = servers.map((server) => [
    server,
    ...kinds.flatMap(({ name }) => {
      const rate = rateOf(measured, name, server)
      return [rounded(rate), server === service ? '' : ratio(rateOf(measured, name, service) / rate)]
    }),
  ])
  return table(['requests per second', ...kinds.flatMap(({ name }) => [name, 'ratio'])], rows)
}

const machine = (): string => {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} cores (${cpu?.model.trim() || process.arch}), ${memory} GiB, Linux ${release()}, Node ${process.version}`
}

/** The section of one database system in docs/benchmarks.md. */
export const markdown = (results: Results): string => {
  const { target, generator, unavailable, growth } = results
  const parts = [
    `## ${target.system}`,
    `![Requests per second](${target.chartName}.svg)`,
    `Created by \`${target.command}\` on ${machine()}, with ${generator} and sixteen connections, ${target.setup}, each with its default settings; this service writes its log and sets security headers.`,
    '### Reads',
    throughputTable(results),
    ...unavailable.map(({ name, reason }) => `${name} was not measured: ${reason}.`),
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

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A bar chart of requests per second, grouped by kind of read. */
export const chart = ({ measured }: Results): string => {
  const servers = [...new Set(measured.map(({ server }) => server))]
  const maxRate = Math.max(...measured.map(({ rate }) => rate))
  const [labels, bars, barHeight, groupGap] = [190, 420, 18, 34]
  const groupHeight = servers.length * (barHeight + 4) + groupGap
  const rows = kinds.flatMap(({ name }, group) => {
    const top = 20 + group * groupHeight
    return [
      `<text x="0" y="${top}" font-weight="bold">${escaped(name)}</text>`,
      ...servers.map((server, index) => {
        const rate = rateOf(measured, name, server)
        const y = top + 8 + index * (barHeight + 4)
        const width = Math.max(1, Math.round((rate / maxRate) * bars))
        const colour = index === 0 ? '#1d4ed8' : '#94a3b8'
        return `<text x="${labels - 8}" y="${y + 13}" text-anchor="end">${escaped(server)}</text><rect x="${labels}" y="${y}" width="${width}" height="${barHeight}" fill="${colour}"/><text x="${labels + width + 6}" y="${y + 13}">${rounded(rate)}</text>`
      }),
    ]
  })
  const height = 20 + kinds.length * groupHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${labels + bars + 70} ${height}" font-family="sans-serif" font-size="12" fill="#334155">
<title>Requests per second, by kind of read and server</title>
<rect width="100%" height="100%" fill="white"/>
<text x="${labels + bars + 62}" y="12" text-anchor="end">requests per second</text>
${rows.join('\n')}
</svg>
`
}
