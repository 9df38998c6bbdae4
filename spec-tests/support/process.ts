/** Starts the service of the office as a child process. */
import * as service from '../../support/process.js'
import { officeFolder } from './officeFiles.js'
import { clientOf, type TestClient } from './service.js'

export { obeyingPermissions, startFlags } from '../../support/process.js'

export type RunningService = service.RunningService & TestClient

type Environment = Readonly<Record<string, string>>
type Options = Parameters<typeof service.launch>[1]

const ofOffice = (options: Options): Options => ({ project: officeFolder, ...options })

export const launch = (environment: Environment, options?: Options) => service.launch(environment, ofOffice(options))
export const startAndFail = (environment: Environment, options?: Options) =>
  service.startAndFail(environment, ofOffice(options))
export const startProcess = async (environment: Environment, options?: Options): Promise<RunningService> => {
  const running = await service.startProcess(environment, ofOffice(options))
  return { ...running, ...clientOf(running.address) }
}
