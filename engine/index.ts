/** The package `resource-registry-engine`: what the files of a project import, and a service for programs and tests. */
export type { Middleware } from 'koa'
export type { Product } from './contract/service.js'
export * from './descriptor/index.js'
export { createService, type Service, type ServiceOptions } from './service.js'
