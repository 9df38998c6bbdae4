/** Unique paths and names for the resources of tables, and for their fields. */

import { checkFieldName } from '../../engine/descriptor/checks.js'
import type { Descriptor } from '../../engine/descriptor/define.js'
import { checkNames, isReservedPath } from '../../engine/descriptor/names.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { resourceNames } from '../new/names.js'

/** A name in snake case: `EmployeeId` is `employee_id`. It begins with a letter. */
const snake = (name: string, prefix: string): string => {
  const text = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z]+)(?=[A-Z][a-z])/g, '$1$3_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return /^[a-z]/.test(text) ? text : [prefix, text].filter(Boolean).join('_')
}

/** The first of `name`, `name_2`, `name_3` … that is free. */
const firstFree = (name: string, separator: string, isTaken: (name: string) => boolean): string => {
  let free = name
  for (let n = 2; isTaken(free); n++) free = `${name}${separator}${n}`
  return free
}

const tablePath = (table: string): string => snake(table, 'table').replaceAll(/_+/g, '-')

/** The name of the field of each column: `Limit` is `limit_column`, because every list has a parameter limit. */
export const fieldNames = (columns: readonly string[]): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const column of columns) {
    // A name has at most 60 characters, and may get a suffix.
    const plain = snake(column, 'column').slice(0, 50)
    const errors: string[] = []
    checkFieldName(plain, (error) => void errors.push(error))
    const name = errors.length === 0 ? plain : `${plain.replace(/^registry_/, 'own_registry_')}_column`
    const taken = [...names.values()]
    const free = firstFree(name, '_', (other) => taken.includes(other))
    names.set(column, free)
  }
  return names
}

/** The path of each table: `a_1` and `a__1` become `a-1` and `a-1-2`. */
export const resourcePaths = (tables: readonly string[], registry: Registry): ReadonlyMap<string, string> => {
  const paths = new Map(registry.map(({ table, path }) => [table, path]))
  for (const table of tables) {
    const taken = new Set(paths.values())
    const path = firstFree(tablePath(table), '-', (other) => taken.has(other) || isReservedPath(other))
    paths.set(table, path)
  }
  return paths
}

/** Makes the function that names the resource at a path: `orders` is `Order`, or `Orders row` beside a table `order`. */
export const distinctNames = (registry: Registry) => {
  const others = registry.map(({ name, plural }) => ({ name, plural }) as { name: string; plural: string | undefined })
  return (path: string): { name: string; plural: string | undefined } => {
    const { name: singular, plural } = resourceNames(path)
    // A table may be named in the singular.
    const derived = { name: singular, plural: plural === singular ? undefined : plural }
    const title = plural ?? singular
    const rows = Array.from({ length: others.length + 1 }, (_, n) => `${title} row${n === 0 ? '' : ` ${n + 1}`}`)
    const candidates = [derived, ...rows.map((name) => ({ name, plural: `${name}s` }))]
    const isFree = (named: (typeof candidates)[number]): boolean => {
      const errors: string[] = []
      const earlier = others.map((other) => ({ file: '', descriptor: other as Descriptor }))
      checkNames(named as Descriptor, earlier, (error) => void errors.push(error))
      return errors.length === 0
    }
    const chosen = candidates.find(isFree) ?? derived
    others.push(chosen)
    return chosen
  }
}
