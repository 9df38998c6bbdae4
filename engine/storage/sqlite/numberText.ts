/** Numbers as PostgreSQL prints them, so that responses are the same on both databases; SQLite itself prints 1.0e+21 and 0.33333333333333332. */
import type BetterSqlite3 from 'better-sqlite3'

/** Whether a decimal is as far from the number as from a neighbour of it, such as 1e23. */
const isHalfway = (text: string, value: number): boolean => {
  const [, whole = '', fraction = '', exponent = ''] = /^-?(\d)\.?(\d*)e(.+)$/.exec(text) ?? []
  const zeros = Number(exponent) - fraction.length
  if (Math.abs(value) < 2 ** 53 || zeros < 0) return false
  const decimal = BigInt(whole + fraction) * 10n ** BigInt(zeros)
  const exact = BigInt(Math.abs(value))
  const neighbour = 2n * decimal - exact
  return decimal !== exact && BigInt(Number(neighbour)) === neighbour
}

/** The fewest digits that identify a number; PostgreSQL does not print a decimal that is halfway. */
const shortest = (value: number): string => {
  let text = value.toExponential()
  for (let digits = 1; Number(text) !== value || isHalfway(text, value); digits++) text = value.toExponential(digits)
  return text
}

const numberText = (value: number): string => {
  const size = Math.abs(value)
  if (size === 0) return '0'
  return size >= 1e-4 && size < 1e15 ? String(value) : shortest(value).replace(/e([+-])(\d)$/, 'e$10$2')
}

export const addNumberFunction = (database: BetterSqlite3.Database): void => {
  database.function('registry_number', { deterministic: true, directOnly: true }, (value) => numberText(Number(value)))
}
