/** The entity diagram: a box for each resource and an arrow for each reference, laid out by dagre, as SVG. */
import type { Registry, Resource } from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { tableUrl } from './links.js'

interface Point {
  readonly x: number
  readonly y: number
}

const lineHeight = 18
const boxWidth = 190

const references = ({ fields }: Resource) => fields.filter((field) => field.references !== undefined)

const heightOf = (resource: Resource): number => 40 + references(resource).length * lineHeight

/** A smooth path through the points of an edge. */
const pathOf = (points: readonly Point[]): string => {
  const at = ({ x, y }: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`
  const [first = { x: 0, y: 0 }, ...rest] = points
  const curves = rest.map((point, n) => {
    const next = rest[n + 1]
    return next ? `Q${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}` : `L${at(point)}`
  })
  return `M${at(first)}${curves.join('')}`
}

const box = (resource: Resource, { x, y }: Point, tone: number): Html => {
  const [left, top] = [x - boxWidth / 2, y - heightOf(resource) / 2]
  const lines = references(resource).map(
    ({ name }, n) => html`<text class="field" x="${left + 14}" y="${top + 44 + n * lineHeight}">${name}</text>`,
  )
  return html`<a href="${tableUrl(resource)}"><g class="box tone-${tone}">
    <rect x="${left}" y="${top}" width="${boxWidth}" height="${heightOf(resource)}" rx="8"/>
    <rect class="edge-bar" x="${left}" y="${top + 8}" width="3" height="${heightOf(resource) - 16}" rx="1.5"/>
    <text class="name" x="${left + 14}" y="${top + 24}">${resource.plural}</text>${lines}</g></a>`
}

/** Draws the registry. dagre is loaded here, because a service that nobody explores does not need it. */
export const diagramOf = async (registry: Registry): Promise<Html> => {
  const dagre = await import('@dagrejs/dagre')
  const graph = new dagre.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 22, ranksep: 70, marginx: 8, marginy: 8 })
  for (const resource of registry) graph.setNode(resource.path, { width: boxWidth, height: heightOf(resource) })
  for (const resource of registry) {
    for (const { name, references: target = '' } of references(resource)) graph.setEdge(resource.path, target, {}, name)
  }
  dagre.layout(graph)
  const { width = 0, height = 0 } = graph.graph()
  const areas = [...new Set(registry.map(({ area }) => area))]
  const edges = graph.edges().map((edge: { v: string; w: string; name?: string }) => {
    const { points = [] } = graph.edge(edge) as { points?: Point[] }
    return html`<path class="edge" d="${pathOf(points)}" marker-end="url(#arrow)"><title>${edge.v}.${edge.name} → ${edge.w}</title></path>`
  })
  const boxes = registry.map((resource) =>
    box(resource, graph.node(resource.path) as Point, areas.indexOf(resource.area) % 6),
  )
  const [w, h] = [Math.ceil(width), Math.ceil(height)]
  return html`<svg width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="group" aria-label="Entity diagram: a box for each resource, an arrow for each reference">
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="arrow" d="M0 0L8 4L0 8z"/></marker></defs>
    ${edges}${boxes}</svg>`
}
