/** The projects of the zoo: those that TEST_ZOO names, all of them, or random ones. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectModules } from '../../engine/descriptor/load.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { RegistryError } from '../../engine/descriptor/registryError.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { testableRegistry } from '../support/testableRegistry.js'
import type { Project } from '../support/tested.js'
import type { Animals } from './animal.js'
import * as between from './between.js'
import { randomProject } from './random.js'
import * as shapes from './shapes.js'
import * as unique from './unique.js'
import * as webs from './webs.js'

const themes: Readonly<Record<string, Readonly<Record<string, Animals>>>> = { between, shapes, unique, webs }

/** The project, verified as `check` does it. */
const load = (animals: Animals): Project => {
  const folder = temporaryFolder('zoo').path
  mkdirSync(join(folder, 'seeds'))
  const modules = Object.entries(animals).map(([path, { demo, ...given }]) => {
    if (demo && demo.length > 0) writeFileSync(join(folder, 'seeds', `${path}.json`), JSON.stringify(demo))
    const name = `${path.charAt(0).toUpperCase()}${path.slice(1)}`.replace(/s$/, '')
    const table = path.replaceAll('-', '_')
    const all = { create: true, update: true, delete: true }
    return { file: path, path, module: { default: { name, area: 'Zoo', table, required: [], ...all, ...given } } }
  })
  const { registry: loaded, errors, seedErrors } = inspectModules(modules, folder, [])
  if (errors.length + seedErrors.length > 0) throw new RegistryError([...errors, ...seedErrors])
  const registry = testableRegistry(loaded)
  const product = { name: 'Zoo', about: 'A project of the zoo.', version: '1.0.0', batch: true }
  const only = process.env['TEST_RESOURCE']
  const resources = registry.filter(({ path }) => only === undefined || path === only)
  return { registry, resources, settings: { registry, product } }
}

/** A random project; every second one has some of its sample rows as demo rows. */
const makeRandom = (seed: number): Animals => {
  const animals = randomProject(seed)
  if (seed % 2 === 0) return animals
  let { registry } = load(animals)
  for (let size = -1; size !== registry.flatMap(({ demo }) => demo).length; ) {
    size = registry.flatMap(({ demo }) => demo).length
    const ids = new Map(registry.map(({ path, demo }) => [path, demo.slice(0, 3).map(({ id }) => id)]))
    registry = registry.map((resource) => {
      const isWhole = (row: RowValues) =>
        resource.fields.every(
          ({ name, references }) =>
            references === undefined || (row[name] ?? null) === null || ids.get(references)?.includes(row[name]),
        )
      return { ...resource, demo: resource.demo.slice(0, 3).filter(isWhole) }
    })
  }
  const seeded = registry.map(({ path, demo }) => [path, { ...animals[path], demo }])
  return Object.fromEntries(seeded)
}

/** The projects that a text names: `museum,tariffs`, the theme `webs`, or `random 7 20`, twenty random ones from seed 7. */
const chosen = (names: string): [name: string, make: () => Animals][] => {
  const [first = '', from = '1', count = '1'] = names.split(' ')
  if (first === 'random')
    return Array.from({ length: Number(count) }, (_, n) => {
      const seed = Number(from) + n
      return [`random ${seed}`, () => makeRandom(seed)]
    })
  const zoo = Object.assign({}, ...Object.values(themes)) as Record<string, Animals>
  const own = first.split(',').flatMap((name) => (themes[name] ? Object.keys(themes[name]) : [name]))
  return own.map((name) => [name, () => zoo[name] as Animals])
}

/** What TEST_ZOO names; it is the one project while its tests are defined and run. */
export const projects = function* (): Generator<{ name: string; project: Project }> {
  const all = process.env['TEST_ZOO'] ?? ''
  for (const [name, make] of chosen(all)) {
    process.env['TEST_ZOO'] = name
    yield { name, project: load(make()) }
  }
  process.env['TEST_ZOO'] = all
}
