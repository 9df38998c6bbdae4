/** A project in a temporary folder, with the resources and demo rows of others. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './cleanup.js'

/** Copies `resources/` and `seeds/` of projects into one. */
export const copyProjects = (from: readonly string[], to: string): void => {
  for (const project of from)
    for (const name of ['resources', 'seeds'])
      if (existsSync(join(project, name))) cpSync(join(project, name), join(to, name), { recursive: true })
}

export const temporaryProject = (...from: readonly string[]): string => {
  const { path } = temporaryFolder('project')
  copyProjects(from, path)
  mkdirSync(join(path, 'data'))
  writeFileSync(join(path, 'package.json'), '{ "name": "temporary", "version": "1.0.0", "type": "module" }\n')
  return path
}
