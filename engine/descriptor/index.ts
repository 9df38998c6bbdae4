/** Everything a resource's file needs to describe itself. */
export { now, today } from './clock.js'
export { type CreateBody, defineResource, type Row } from './define.js'
export { integer, number, text } from './fields.js'
