/** Starts the service of the office as a child process. */
import * as service from '../../support/process.js'
import { officeFile } from './officeFiles.js'

export { obeyingPermissions, type RunningService, startFlags } from '../../support/process.js'

type Environment = Readonly<Record<string, string>>
type Options = Parameters<typeof service.launch>[1]

const ofOffice = (options: Options): Options => ({ ...options, server: officeFile('server.js') })

export const launch = (environment: Environment, options?: Options) => service.launch(environment, ofOffice(options))
export const startAndFail = (environment: Environment, options?: Options) =>
  service.startAndFail(environment, ofOffice(options))
export const startProcess = (environment: Environment, options?: Options) =>
  service.startProcess(environment, ofOffice(options))
