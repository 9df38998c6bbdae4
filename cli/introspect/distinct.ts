/** Unique paths and names for the resources of tables. */

import type { Descriptor } from '../../engine/descriptor/define.js'
import { isReservedPath } from '../../engine/descriptor/identifiers.js'
import { checkNames } from '../../engine/descriptor/names.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { namesOf } from '../new/names.js'

const pathOf = (table: string): string => table.replaceAll('_', '-').replaceAll(/-+/g, '-').replace(/-$/, '')

/** The path of each table: `a_1` and `a__1` become `a-1` and `a-1-2`. */
export const pathsOf = (tables: readonly string[], registry: Registry): ReadonlyMap<string, string> => {
  const paths = new Map(registry.map(({ table, path }) => [table, path]))
  for (const table of tables) {
    const [path, taken] = [pathOf(table), new Set(paths.values())]
    let n = 1
    const numbered = () => (n === 1 ? path : `${path}-${n}`)
    while (taken.has(numbered()) || isReservedPath(numbered())) n++
    paths.set(table, numbered())
  }
  return paths
}

/** Makes the function that names the resource at a path: `orders` is `Order`, or `Orders row` beside a table `order`. */
export const distinctNames = (registry: Registry) => {
  const others = registry.map(({ name, plural }) => ({ name, plural }) as { name: string; plural: string | undefined })
  return (path: string): { name: string; plural: string | undefined } => {
    const derived = namesOf(path)
    const words = derived.plural ?? derived.name
    const rows = Array.from({ length: others.length + 1 }, (_, n) => `${words} row${n === 0 ? '' : ` ${n + 1}`}`)
    const candidates = [derived, ...rows.map((name) => ({ name, plural: `${name}s` }))]
    const isFree = (named: (typeof candidates)[number]): boolean => {
      const faults: string[] = []
      const earlier = others.map((other) => ({ file: '', descriptor: other as Descriptor }))
      checkNames(named as Descriptor, earlier, (fault) => void faults.push(fault))
      return faults.length === 0
    }
    const chosen = candidates.find(isFree) ?? derived
    others.push(chosen)
    return chosen
  }
}
