/** Every command of the package, in the order of its help. */
import type { Command } from '../support/options.js'

export const commands: Readonly<Record<string, () => Promise<{ default: Command }>>> = {
  init: () => import('./init.js'),
  start: () => import('../server.js'),
  dev: () => import('./dev.js'),
  check: () => import('./check.js'),
  test: () => import('./test.js'),
  new: () => import('./new.js'),
  contract: () => import('./contract.js'),
  plan: () => import('./plan.js'),
  migrate: () => import('./migrate.js'),
  seed: () => import('./seed.js'),
  import: () => import('./import.js'),
  key: () => import('./key.js'),
  introspect: () => import('./introspect.js'),
  copy: () => import('./copy.js'),
  backup: () => import('./backup.js'),
  diagram: () => import('./diagram.js'),
}
