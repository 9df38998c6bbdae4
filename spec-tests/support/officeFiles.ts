/** The files of the office: a project that the engine's tests use. */
import { join } from 'node:path'
import { root } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'

export const officeFolder = join(root, 'spec-tests', 'office')

let copy: string | undefined

/** A copy of the office, for commands that write into it. */
export const officeCopy = (): string => {
  copy ??= temporaryProject(officeFolder)
  return copy
}
