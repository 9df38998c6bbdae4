/** Generates the query parameters of lists, with the integers they must be parsed to, and item ids. */
import fc from 'fast-check'
import { expandableFields } from '../engine/descriptor/expansion.js'
import { isWhole } from '../engine/descriptor/kinds/index.js'
import { possibleConditions, possibleOrders } from '../engine/descriptor/listQuery.js'
import { operatorOf } from '../engine/descriptor/operators.js'
import type { Resource, RowValues } from '../engine/descriptor/registry.js'
import { aggregatedFields, aggregates, possibleGroups } from '../engine/descriptor/summary.js'
import { type Parameter, searchedText } from '../support/oracle.js'
import { anyEscaped, escaped, text } from './arbitraryText.js'

/** The accepted spellings of an integer. */
const spellings = (digits: string, sign: string): string[] => [
  `${sign}${digits}`,
  `${sign}000${digits}`,
  `${sign}${digits}.0`,
  `${sign}${digits}.000`,
  `%20${sign}${digits}%09`,
  `+${sign}${digits}`,
  `${sign}0_${digits}`,
  ...(sign === '' ? [`%2B${digits}`] : []),
  ...(digits.length > 1 ? [`${sign}${digits.slice(0, 1)}_${digits.slice(1)}`] : []),
]

const validInteger = (value: bigint): fc.Arbitrary<Omit<Parameter, 'name'>> => {
  const digits = String(value < 0n ? -value : value)
  return fc.constantFrom(...spellings(digits, value < 0n ? '-' : '')).map((written) => ({ written, integer: value }))
}

const invalidIntegers = [
  ...['', '1'.repeat(4_301)],
  ...'abc 1.5 1e3 10. 0x10 true NaN 1,000 _10 10_ 1__0 --1 %2B-1'.split(' '),
  ...'%D9%A1 %00 1%00 %ff % 1%201 %E2%88%921 Infinity .0 1._0 0b1'.split(' '),
]

const integerLike = (values: fc.Arbitrary<bigint>): fc.Arbitrary<Omit<Parameter, 'name'>> =>
  fc.oneof(
    { weight: 8, arbitrary: values.chain(validInteger) },
    { weight: 1, arbitrary: fc.constantFrom(...invalidIntegers).map((written) => ({ written })) },
  )

const edges = [0n, 1n, -1n, 200n, 201n, 2n ** 31n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), 10n ** 40n]
const small = (max: number) => fc.nat(max).map(BigInt)
const withEdges = (values: fc.Arbitrary<bigint>) =>
  fc.oneof({ weight: 5, arbitrary: values }, { weight: 1, arbitrary: fc.constantFrom(...edges) })

/** A substring of a row's text, in its own or another case, so that searches find something. */
const arbitrarySubstring = (resource: Resource, row: RowValues | undefined): fc.Arbitrary<string> => {
  const letters = Array.from(searchedText(resource, row ?? {})).slice(0, 400)
  return fc
    .tuple(fc.nat(letters.length), fc.integer({ min: 1, max: 30 }), fc.nat(2))
    .map(([start, length, letterCase]) => {
      const part = letters.slice(start, start + length).join('')
      return letterCase === 1 ? part.toUpperCase() : letterCase === 2 ? part.toLowerCase() : part
    })
}

const named = (name: string, values: fc.Arbitrary<Omit<Parameter, 'name'>>): fc.Arbitrary<Parameter> =>
  values.map((value) => ({ ...value, name }))

/** Likely and unlikely parameters of a list, some of them repeated; the rows provide values to find. */
export const listParameters = (resource: Resource, rows: readonly RowValues[]): fc.Arbitrary<Parameter[]> =>
  fc.nat(Math.max(0, rows.length - 1)).chain((index) => {
    const row = rows[index]
    const expandable = expandableFields(resource).map(({ name }) => name)
    const substring = arbitrarySubstring(resource, row).chain(escaped)
    const plainText = fc.oneof(substring, text.chain(escaped), anyEscaped).map((written) => ({ written }))
    const words = (values: readonly string[]) => fc.constantFrom(...values).map((written) => ({ written }))
    const conditions = possibleConditions(resource).map(({ field, operator, parameter: name }) => {
      const stored = row?.[field.name] ?? null
      if (operatorOf(operator).operand === 'boolean') return named(name, words(['true', 'false', 'True', '']))
      if (isWhole(field))
        return named(name, integerLike(withEdges(stored === null ? small(9) : fc.constant(BigInt(stored as number)))))
      const likely = stored === null ? text : fc.constant(String(stored))
      return named(
        name,
        fc.oneof({ weight: 3, arbitrary: likely.chain(escaped).map((written) => ({ written })) }, plainText),
      )
    })
    const unknown = fc.constantFrom('', ...'LIMIT __proto__ constructor id q%00 limit%20 q[] order x.gte'.split(' '))
    return fc.array(
      fc.oneof(
        { weight: 3, arbitrary: named('q', plainText) },
        { weight: 2, arbitrary: named('limit', integerLike(withEdges(small(20)))) },
        { weight: 2, arbitrary: named('offset', integerLike(withEdges(small(rows.length + 10)))) },
        { weight: 3, arbitrary: named('sort', words([...possibleOrders(resource), '', '-', 'id,id', '%00'])) },
        ...(expandable.length > 0
          ? [{ weight: 3, arbitrary: named('expand', words([...expandable, ...expandable, ...expandable, 'id'])) }]
          : []),
        ...conditions.map((arbitrary) => ({ weight: 1, arbitrary })),
        { weight: 1, arbitrary: fc.tuple(unknown, plainText).map(([name, value]) => ({ ...value, name })) },
      ),
      { maxLength: 4, size: 'max' },
    )
  })

/** Likely and unlikely parameters of a summary. */
export const summaryParameters = (resource: Resource, rows: readonly RowValues[]): fc.Arbitrary<Parameter[]> => {
  const names = (name: string, possible: readonly string[]) =>
    named(
      name,
      fc.constantFrom(...possible, ...possible, ...possible, 'id').map((written) => ({ written })),
    )
  const groups = possibleGroups(resource).map(({ name }) => name)
  const groupings = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: names('by', groups) },
      ...aggregates.map((aggregate) => ({
        weight: 1,
        arbitrary: names(aggregate, aggregatedFields(resource, aggregate)),
      })),
    ),
    { maxLength: 4, size: 'max' },
  )
  return fc.tuple(groupings, listParameters(resource, rows)).map((both) => both.flat())
}

/** Ids of rows, similar ones, and arbitrary text. */
export const itemId = (ids: readonly number[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.nat(Math.max(0, ids.length - 1)).map((index) => String(ids[index])) },
    fc.constantFrom('9'.repeat(30), ...'0 -1 +1 01 1.0 1e0 %201 %31 1%00 %D9%A3 9007199254740993 . ..'.split(' ')),
    anyEscaped.filter((written) => written !== '' && !written.includes('/')),
  )
