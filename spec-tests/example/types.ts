/** Compile-time tests of the inferred types. */
import { type CreateBody, defineResource, integer, type Row, text } from '../../engine/descriptor/index.js'
import type careerSites from '../../resources/career-sites.js'
import type departments from '../../resources/departments.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const assertType = <_ extends true>(): void => {}

assertType<Same<Row<typeof departments>, { id: number | null; name: string }>>()
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
// @ts-expect-error number has no option references
number({ references: 'things' })
