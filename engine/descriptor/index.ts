/** The imports of a resource file. */
export { now, today } from './clock.js'
export { type CreateBody, defineResource, type Row } from './define.js'
export { integer, number, text } from './fields.js'
