/** Finds the numbers of a JSON text that JavaScript would round: they are refused, not changed behind the client's back. */

/** A string, or a string that is a key followed by a number: whole strings are stepped over, so none is looked into. */
const keyedNumbers = /"([^"\\]*(?:\\.[^"\\]*)*)"(?:\s*:\s*(-?\d[\d.eE+-]*))?/gs

/** No double needs more characters than this, however it is written out. */
const longest = 400

/** A number as its significant digits and their exponent, so that 3, 3.0 and 30e-1 are one. */
const decimal = (literal: string): string => {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  return significant === ''
    ? '0'
    : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

const isExact = (literal: string): boolean =>
  literal.length <= longest && decimal(literal) === decimal(String(Number(literal)))

/** The keys whose number would not come back as it was sent. */
export const inexactKeys = (source: string): Set<string> => {
  const keys = new Set<string>()
  for (const [, key, literal] of source.matchAll(keyedNumbers)) {
    if (literal !== undefined && !isExact(literal)) keys.add(JSON.parse(`"${key}"`))
  }
  return keys
}
