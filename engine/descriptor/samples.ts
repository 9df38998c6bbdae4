/** Sample values of fields, within their rules: for examples in the documents, generated rows and tests. */
import { isMoment, kindOf } from './kinds/index.js'
import { alphabet, matchingText } from './patternSample.js'
import type { Field, GivenValue } from './registry.js'
import { findViolation } from './valueRules.js'

/** How many different values a range should have before shorter steps are taken. */
const manyValues = 500n

/** The nth value from the least one, or before the greatest; between both, the first follows the last. */
const within = (field: Field, n: bigint): GivenValue | undefined => {
  const scale = kindOf(field.kind).scale
  if (!scale || (field.min ?? field.max) === undefined) return undefined
  const [least, most] = [field.min, field.max].map((bound) =>
    bound === undefined ? undefined : scale.toSteps(bound, field),
  )
  const strides = scale.strides(field)
  const [longest = 1n] = strides
  if (least === undefined) return scale.fromSteps((most as bigint) - n * longest, field)
  if (most === undefined) return scale.fromSteps(least + n * longest, field)
  const stride = strides.find((candidate) => (most - least) / candidate >= manyValues) ?? strides.at(-1) ?? 1n
  return scale.fromSteps(least + (n % ((most - least) / stride + 1n)) * stride, field)
}

/** A text of few characters: n in a number system with a digit for each letter. */
const shortText = (n: number, length: number): string => {
  let remaining = n
  const letters = Array.from({ length: Math.min(length, 12) }, () => {
    const letter = alphabet[remaining % alphabet.length]
    remaining = Math.floor(remaining / alphabet.length)
    return letter
  })
  return letters.reverse().join('')
}

const sized = ({ name, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: Field, n: number): string => {
  const text = `${name}-${n} Ünïcode`
  return ([...text].length <= maxLength ? text : shortText(n, maxLength)).padEnd(minLength, 'x')
}

/** The nth sample value of a field: a different one for each n, as far as its rules allow. Undefined if none is found that keeps them. */
export const sampleValue = (field: Field, n: number): GivenValue | undefined => {
  const { kind, name, oneOf, minLength = 0, maxLength = 0, pattern, example } = field
  if (oneOf) return oneOf[n % oneOf.length] as GivenValue
  const isValid = (value: GivenValue | undefined) => value !== undefined && findViolation(field, value) === undefined
  const values = [kindOf(kind).sample(n, name, field), within(field, BigInt(n)), within(field, 0n)]
  if (minLength + maxLength > 0) values.push(sized(field, n))
  const value = values.find(isValid)
  if (value !== undefined || pattern === undefined) return value ?? example
  for (const more of [3, 1, 0, 2, minLength, Math.ceil(minLength / 2), maxLength]) {
    const text = matchingText(pattern, n, more)
    if (isValid(text)) return text
  }
  return example
}

/** How far from each other the values are that rules between fields are tried with: some compare with a week or a year. */
const distances = [0n, 1n, 2n, 3n, 5n, 7n, 10n, 30n, 365n]

/** Values at each distance from some, and from zero. */
const nearValues = (field: Field, from: readonly (GivenValue | undefined)[]): GivenValue[] => {
  const scale = kindOf(field.kind).scale
  if (!scale) return []
  const origins = from.filter((value) => value !== undefined).map((value) => scale.toSteps(value, field))
  const anchors = isMoment(field) ? origins : [...origins, 0n]
  const strides = scale.strides(field).slice(0, 2)
  return strides.flatMap((stride) =>
    distances.flatMap((by) =>
      anchors.flatMap((anchor) =>
        [anchor + by * stride, anchor - by * stride].map((steps) => scale.fromSteps(steps, field)),
      ),
    ),
  )
}

/** Values of a field to choose from, within its rules: the nth sample, those that follow it, and those near the bounds and zero. */
export const sampleValues = (field: Field, n: number): GivenValue[] => {
  const { oneOf, min, max, example } = field
  if (oneOf) return oneOf.map((_, index) => oneOf[(n + index) % oneOf.length] as GivenValue)
  const first = sampleValue(field, n)
  const following = Array.from({ length: 8 }, (_, index) => sampleValue(field, n + 1 + index))
  const values = [first, ...nearValues(field, [first, min, max]), ...following, example]
  return [...new Set(values)].filter(
    (value) => value !== undefined && findViolation(field, value) === undefined,
  ) as GivenValue[]
}
