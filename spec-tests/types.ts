/** The inferred types, held by the compiler: a line here that is wrong does not compile. */
import { type CreateBody, defineResource, integer, type Row, text } from '../engine/descriptor/index.js'
import type careerSites from '../resources/career-sites.js'
import type departments from '../resources/departments.js'
import type leave from '../resources/leave.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

holds<
  Same<
    Row<typeof leave>,
    {
      id: number | null
      employee_id: number | null
      leave_type: string
      from_date: string | null
      to_date: string | null
      days: number | null
      status: string
      reason: string | null
      applied_on: string | null
    }
  >
>()

holds<
  Same<
    CreateBody<typeof leave>,
    {
      leave_type: string
      employee_id?: number | null
      from_date?: string | null
      to_date?: string | null
      days?: number | null
      status?: string | null
      reason?: string | null
      applied_on?: string | null
    }
  >
>()

holds<Same<Row<typeof departments>, { id: number | null; name: string }>>()
holds<Same<'custom_domain' extends keyof CreateBody<typeof careerSites> ? true : false, false>>()
holds<Same<'created' extends keyof CreateBody<typeof careerSites> ? true : false, false>>()
holds<Same<CreateBody<typeof careerSites>['slug'], string>>()
holds<Same<CreateBody<typeof careerSites>['is_active'], number | null | undefined>>()

const parts = { name: 'Thing', area: 'Things', table: 'things', create: true } as const
// @ts-expect-error required names no field
defineResource({ ...parts, fields: { title: text() }, required: ['titel'] })
// @ts-expect-error an option is misspelt
integer({ references: 'things', filtre: true })
// @ts-expect-error a default is of the wrong type
text({ default: 5 })
// @ts-expect-error text refers to no rows
text({ references: 'things' })
