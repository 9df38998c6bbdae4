/** Sample values of fields, within their rules: for examples in the documents, generated rows and tests. */
import { fromUnits, parseDecimal, toUnits } from './decimals.js'
import { kindOf } from './kinds.js'
import { matchingText } from './patternSample.js'
import type { Field, GivenValue } from './registry.js'
import { findViolation } from './valueRules.js'

const day = 86_400_000

/** The nth value from the least one, or before the greatest; between both, the first follows the last. */
const within = (field: Field, nth: number): GivenValue | undefined => {
  const { kind, min, max } = field
  const bound = min ?? max
  if (kind === 'decimal') return bound === undefined ? undefined : decimalWithin(field, nth)
  const [least, most] = [min, max].map((one) => (typeof one === 'string' ? Date.parse(one) / day : Number(one)))
  const n = nth % (Math.floor(Number(most) - Number(least)) + 1 || Number.POSITIVE_INFINITY)
  if (typeof bound === 'number') return min === undefined ? bound - n : bound + n
  if (typeof bound !== 'string') return undefined
  const moment = new Date(Date.parse(bound) + (min === undefined ? -n : n) * day).toISOString()
  return kindOf(kind).input === 'date' ? moment.slice(0, 10) : moment
}

const decimalWithin = (field: Field, nth: number): string => {
  const units = (bound: GivenValue) => toUnits(String(parseDecimal(String(bound), field)))
  const [least, most] = [field.min, field.max].map((bound) => (bound === undefined ? undefined : units(bound)))
  const n = BigInt(nth) % (least !== undefined && most !== undefined ? most - least + 1n : BigInt(nth) + 1n)
  return fromUnits(least === undefined ? (most as bigint) - n : least + n, field)
}

const padded = ({ name, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: Field, n: number): string => {
  const text = `${name}-${n} Ünïcode`
  const short = [...text].length <= maxLength ? text : String(n).padStart(Math.min(maxLength, 12), '0')
  return [...short.padEnd(minLength, 'x')].slice(0, maxLength).join('')
}

/** The nth sample value of a field: a different one for each n, as far as its rules allow. */
export const sampleValue = (field: Field, n: number): GivenValue => {
  const { kind, name, oneOf, minLength, maxLength, pattern, example } = field
  if (oneOf) return oneOf[n % oneOf.length] as GivenValue
  const fits = (value: GivenValue | undefined) => value !== undefined && findViolation(field, value) === undefined
  const candidates = [
    kindOf(kind).sample(n, name, field),
    within(field, n),
    within(field, 0),
    minLength !== undefined || maxLength !== undefined ? padded(field, n) : undefined,
  ]
  const matching = () => [3, 1, 0].map((more) => matchingText(String(pattern), n, more))
  const sample = candidates.find(fits) ?? (pattern === undefined ? undefined : matching().find(fits)) ?? example
  if (sample === undefined) throw new TypeError(`field "${name}" needs an example, because no sample fits its rules`)
  return sample
}
