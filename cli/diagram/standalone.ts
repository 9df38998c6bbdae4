/** The entity diagram of the explorer as an SVG file, with the part of the explorer's style sheet that it needs. */
import type { Registry } from '../../engine/descriptor/registry.js'
import { assets } from '../../engine/explorer/assets.js'
import { renderDiagram } from '../../engine/explorer/diagram.js'

/** The colours, light and dark, and the rules for boxes and lines. */
const style = (): string => {
  const css = assets()
    .filter(({ path }) => path.endsWith('.css'))
    .map(({ body }) => body.toString())
    .join('\n')
  const rules = css.match(/^(?::root|\.(?:box|edge|arrow|info|good|warning|bad|muted)) \{.*?^\}/gms) ?? []
  return [...rules, '.paper {\n  fill: var(--card);\n}'].join('\n')
}

/** Draws the registry. The links of the explorer lead nowhere in a file, so they are left out. */
export const standaloneDiagram = async (registry: Registry): Promise<string> => {
  const { source } = await renderDiagram(registry)
  return source
    .replaceAll(/<\/?a\b[^>]*>/g, '')
    .replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace(
      '<defs>',
      () => `<style>\n${style()}\n</style>\n<rect class="paper" width="100%" height="100%" rx="10"/>\n<defs>`,
    )
    .replace(/\s*$/, '\n')
}
