/** What a JSON text has that JSON.parse() would not show: numbers that JavaScript rounds, and so many values that parsing holds up every other request. */
import { maxJsonBytes } from '../descriptor/jsonText.js'
import { jsonFieldNames } from '../descriptor/kinds/index.js'
import type { Resource } from '../descriptor/registry.js'

/** Texts of more bytes than this are scanned first: JSON.parse() takes 220 ms for 500,000 brackets, and 80 ms for 80,000 properties. */
const scannedBytes = 64 * 1024

/** The most values of such a text, those of all arrays and objects counted. A row has as many as its resource has fields, and more in JSON. */
const maxFieldValues = 20_000
export const maxValuesOf = ({ fields }: Resource): number =>
  maxFieldValues + (maxJsonBytes / 2) * jsonFieldNames(fields).length

const [quote, backslash, ...beforeValue] = [...Buffer.from('"\\,[{')]

export const hasTooManyValues = (bytes: Buffer, maxValues: number): boolean => {
  let values = 0
  let isText = false
  for (let at = 0; bytes.length > scannedBytes && at < bytes.length && values <= maxValues; at++) {
    const byte = bytes[at] as number
    if (byte === quote) isText = !isText
    else if (isText) at += byte === backslash ? 1 : 0
    else if (beforeValue.includes(byte)) values++
  }
  return values > maxValues
}

/** Matches whole strings, with the number that follows where the string is a key; so it never matches inside a string. */
const keyedNumbers = /"([^"\\]*(?:\\.[^"\\]*)*)"(?:\s*:\s*(-?\d[\d.eE+-]*))?/gs

/** Written out, no double has more characters than this. */
const maxDigits = 400

/** A number as its significant digits and exponent, so that 3, 3.0 and 30e-1 are equal. */
const normalizedNumber = (literal: string): string => {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  return significant === ''
    ? '0'
    : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** A literal with so many digits may be one of several for its number: 1e23 is exported as 9.999999999999999e+22. */
const maxPrecision = 16

const isExact = (literal: string): boolean => {
  if (literal.length > maxDigits) return false
  const [written, number] = [normalizedNumber(literal), Number(literal)]
  if (written === normalizedNumber(String(number))) return true
  if (!Number.isFinite(number)) return false
  const digits = written.split('e')[0]?.length ?? 0
  // An integer beyond 2^53 may be exact although it is printed with fewer digits.
  if (Number.isInteger(number) && normalizedNumber(String(BigInt(number))) === written) return true
  return digits <= maxPrecision && normalizedNumber(number.toPrecision(digits)) === written
}

export const inexactKeys = (source: string, keys: { has(key: string): boolean }): Set<string> => {
  const inexact = new Set<string>()
  for (const [, raw = '', literal] of source.matchAll(keyedNumbers)) {
    if (literal === undefined) continue
    const key: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw
    if (keys.has(key) && !isExact(literal)) inexact.add(key)
  }
  return inexact
}
