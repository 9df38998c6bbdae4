/** Compile-time tests of the inferred types. */
import {
  type CreateBody,
  date,
  decimal,
  defineResource,
  type ExpandedRow,
  integer,
  type Row,
  text,
} from '../../engine/descriptor/index.js'
import type careerSites from '../../resources/career-sites.js'
import type departments from '../../resources/departments.js'
import type employees from '../../resources/employees.js'
import type leave from '../../resources/leave.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const assertType = <_ extends true>(): void => {}

assertType<Same<Row<typeof departments>, { id: number | null; name: string }>>()
type LeaveWithEmployee = ExpandedRow<typeof leave, { employee_id: typeof employees }>
type LastName = NonNullable<NonNullable<LeaveWithEmployee['expanded']>['employee_id']>['last_name']
assertType<Same<LastName, Row<typeof employees>['last_name']>>()
assertType<Same<'custom_domain' extends keyof CreateBody<typeof careerSites> ? true : false, false>>()
assertType<Same<'created' extends keyof CreateBody<typeof careerSites> ? true : false, false>>()
assertType<Same<CreateBody<typeof careerSites>['slug'], string>>()
assertType<Same<CreateBody<typeof careerSites>['is_active'], number | null | undefined>>()

const rest = { name: 'Thing', area: 'Things', table: 'things', create: true } as const
// @ts-expect-error required names an unknown field
defineResource({ ...rest, fields: { title: text() }, required: ['titel'] })
// @ts-expect-error an option is misspelt
integer({ references: 'things', filtre: true })
// @ts-expect-error a default is of the wrong type
text({ default: 5 })
// @ts-expect-error next names a value that is not in oneOf
text({ oneOf: ['open', 'done'], next: { opn: ['done'] } })
// @ts-expect-error a step leads to a value that is not in oneOf
text({ oneOf: ['open', 'done'], next: { open: ['don'] } })
const period = { from: date(), to: date(), price: decimal({ digits: 8, places: 2 }) }
const ruled = defineResource({
  ...rest,
  id: 'text',
  fields: period,
  required: [],
  rules: [{ fields: ['from', 'price'], holds: ({ from, price }) => from.length > 0 && price > 0n, message: 'x' }],
})
assertType<Same<Row<typeof ruled>, { id: string; from: string | null; to: string | null; price: string | null }>>()
assertType<Same<CreateBody<typeof ruled>['id'], string>>()
defineResource({
  ...rest,
  fields: period,
  required: [],
  // @ts-expect-error a rule names an unknown field
  rules: [{ fields: ['until'], holds: () => true, message: 'x' }],
})
// @ts-expect-error number has no option references
number({ references: 'things' })
