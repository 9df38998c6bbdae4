/** The twelve resources of the example, whatever stands beside them. */
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { root } from '../../support/root.js'

const paths = [
  ...['applications', 'attendance', 'brands', 'candidates', 'career-sites', 'departments', 'employees'],
  ...['job-distributions', 'jobs', 'leave', 'organization-teams', 'organizations'],
]

export const example: Registry = (await loadRegistry(root)).filter(({ path }) => paths.includes(path))
