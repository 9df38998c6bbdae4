/** The entity diagram: a box for each resource and an arrow for each reference, laid out by dagre, as SVG. */
import type { Tone } from '../descriptor/options.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { pageUrl } from './links.js'

interface Point {
  readonly x: number
  readonly y: number
}

const lineHeight = 18
const boxWidth = 190

/** How many letters fit into a line of a box. Those beyond Latin, Greek and Cyrillic count twice, because most are wide. */
const lineLength = 22

const fitted = (text: string): string => {
  let room = lineLength
  const letters = [...text].filter((letter) => {
    room -= letter > '\u052f' ? 2 : 1
    return room >= 0
  })
  return room >= 0 ? text : `${letters.slice(0, -1).join('').trimEnd()}…`
}

const references = ({ fields }: Resource) => fields.filter((field) => field.references !== undefined)

const boxHeight = (resource: Resource): number => 40 + references(resource).length * lineHeight

const lineAt = (resource: Resource, { y }: Point, field?: string): number => {
  const top = y - boxHeight(resource) / 2
  const line = references(resource).findIndex(({ name }) => name === field)
  return line === -1 ? top + 20 : top + 40 + line * lineHeight
}

const curve = (points: readonly Point[]): string => {
  const at = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`
  return points
    .map(({ x, y }, n) => {
      const before = points[n - 1]
      if (!before) return `M${at(x, y)}`
      const middle = (before.x + x) / 2
      return `C${at(middle, before.y)} ${at(middle, y)} ${at(x, y)}`
    })
    .join('')
}

interface Line {
  readonly from: Resource
  readonly field: string
  readonly to: Resource
}

/** The line of a reference: from its field to the name of its target, through the points that dagre has found between them. */
const linePath = (
  { from, field, to }: Line,
  findPlace: (resource: Resource) => Point,
  between: readonly Point[],
): string => {
  const half = boxWidth / 2
  const [fromAt, toAt] = [findPlace(from), findPlace(to)]
  const [startY, endY] = [lineAt(from, fromAt, field), lineAt(to, toAt)]
  if (from === to) {
    const x = fromAt.x + half
    return `M${x} ${startY}C${x + 34} ${startY} ${x + 34} ${endY} ${x} ${endY}`
  }
  const side = fromAt.x < toAt.x ? half : -half
  // Level across each column of boxes that it passes.
  const passed = between.flatMap(({ x, y }) => [
    { x: x - side, y },
    { x: x + side, y },
  ])
  return curve([{ x: fromAt.x + side, y: startY }, ...passed, { x: toAt.x - side, y: endY }])
}

const areaTones: readonly Tone[] = ['info', 'good', 'warning', 'muted', 'bad']

const box = (resource: Resource, { x, y }: Point, tone: Tone | undefined): Html => {
  const [left, top] = [x - boxWidth / 2, y - boxHeight(resource) / 2]
  const lines = references(resource).map(
    ({ name }, n) => html`<text class="field" x="${left + 14}" y="${top + 44 + n * lineHeight}">${fitted(name)}</text>`,
  )
  const name = fitted(resource.plural)
  return html`<a href="${pageUrl(resource)}"><g class="box ${tone}">${name !== resource.plural && html`<title>${resource.plural}</title>`}
    <rect x="${left}" y="${top}" width="${boxWidth}" height="${boxHeight(resource)}" rx="8"/>
    <rect class="edge-bar" x="${left}" y="${top + 8}" width="3" height="${boxHeight(resource) - 16}" rx="1.5"/>
    <text class="name" x="${left + 14}" y="${top + 24}">${name}</text>${lines}</g></a>`
}

/** Draws the registry. dagre is loaded here, because a service that nobody explores does not need it. */
export const renderDiagram = async (registry: Registry): Promise<Html> => {
  const dagre = await import('@dagrejs/dagre')
  const graph = new dagre.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 22, ranksep: 70, marginx: 40, marginy: 8 })
  for (const resource of registry) graph.setNode(resource.path, { width: boxWidth, height: boxHeight(resource) })
  const lines = registry.flatMap((from) =>
    references(from).flatMap(({ name: field, references: path }): Line[] => {
      const to = registry.find((resource) => resource.path === path)
      return to ? [{ from, field, to }] : []
    }),
  )
  // A reference to the same resource needs no layout. One edge for each pair: dagre throws on some graphs with parallel edges.
  for (const { from, to } of lines) if (from !== to) graph.setEdge(from.path, to.path, {})
  dagre.layout(graph)
  const { width = 0, height = 0 } = graph.graph()
  const place = ({ path }: Resource) => graph.node(path) as Point
  const areas = [...new Set(registry.map(({ area }) => area))]
  const edges = lines.map((line) => {
    const { from, field, to } = line
    const { points = [] } = (graph.edge(from.path, to.path) ?? {}) as { points?: Point[] }
    const between = points.filter((_, n) => n > 1 && n < points.length - 2 && n % 2 === 0)
    return html`<path class="edge" d="${linePath(line, place, between)}" marker-end="url(#arrow)"><title>${from.path}.${field} → ${to.path}</title></path>`
  })
  const boxes = registry.map((resource) =>
    box(resource, place(resource), areaTones[areas.indexOf(resource.area) % areaTones.length]),
  )
  const [w, h] = [Math.ceil(width), Math.ceil(height)]
  return html`<svg width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="group" aria-label="Entity diagram: a box for each resource, an arrow for each reference">
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="arrow" d="M0 0L8 4L0 8z"/></marker></defs>
    ${edges}${boxes}</svg>`
}
