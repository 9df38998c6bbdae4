/** The imports of a resource file. */
export { now, today } from './clock.js'
export {
  type CreateBody,
  claim,
  defineResource,
  type ExpandedRow,
  type Row,
  type Rule,
  type StoredRow,
  type UpdateBody,
} from './define.js'
export { boolean, date, decimal, integer, json, number, text, timestamp, uuid } from './fields.js'
export { defineHook } from './hook.js'
export { ApiError, defineOperation, z } from './operation.js'
