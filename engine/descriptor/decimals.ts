/** Decimals: strings of digits that are never a double, and their number of smallest units, which SQLite stores. */
import { Violation } from './violations.js'

export interface DecimalOptions {
  /** The most digits, before and after the point; at most 18. */
  readonly digits?: number | undefined
  /** How many digits follow the point. */
  readonly places?: number | undefined
}

export const maxDecimalDigits = 18

const grammar = /^(-?)0*(\d+?)(?:\.(\d+?)0*)?$/
const maxLength = 40

/** The decimal with all its places: `12.5` is `12.50`. */
export const parseDecimal = (
  text: string,
  { digits = maxDecimalDigits, places = 0 }: DecimalOptions,
): string | Violation => {
  const match = text.length <= maxLength ? grammar.exec(text) : null
  if (!match) return new Violation('decimal_parsing', text)
  const [, sign, whole = '0', decimals = '0'] = match
  const fraction = decimals === '0' ? '' : decimals
  if (fraction.length > places) return new Violation('decimal_max_places', text, { decimal_places: places })
  const written = `${whole === '0' ? '' : whole}${fraction.padEnd(places, '0')}`
  if (written.length > digits) return new Violation('decimal_max_digits', text, { max_digits: digits })
  const value = places > 0 ? `${whole}.${fraction.padEnd(places, '0')}` : whole
  return /[1-9]/.test(value) ? `${sign}${value}` : value
}

/** How many smallest units a decimal has: 1250 for `12.50`. */
export const toUnits = (decimal: string): bigint => BigInt(decimal.replace('.', ''))

export const fromUnits = (units: bigint | number | string, { places = 0 }: DecimalOptions): string => {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(String(units)) ?? []
  const padded = digits.padStart(places + 1, '0')
  return places === 0 ? `${sign}${digits}` : `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`
}
