/** Integers: in query strings, parsed as pydantic v2 parses them, and those that a number cannot hold exactly. */

/** A sign, leading zeros, single underscores between digits and a fraction of zeros are allowed. */
const integerGrammar = /^(?:\+|(-))?(?:0[0_]*(?=[1-9])([1-9]\d*(?:_\d+)*)|([1-9]\d*(?:_\d+)*)|0(?:[0_]*0)?)(?:\.0+)?$/

/** pydantic first looks at the untrimmed text and rejects more leading digits than this, whatever follows them. */
const maxLength = 4300
const leadingDigits = /^-?[1-9]\d*/

/** Fast path for almost every integer that clients send. */
const plainDigits = /^\d{1,15}$/

/** White space as Unicode defines it, which String.trim() does not know. */
const spaces = /\p{White_Space}+/u

/** The integer, or the type of pydantic's error. */
export const parseInteger = (input: string): bigint | 'int_parsing' | 'int_parsing_size' => {
  if (plainDigits.test(input)) return BigInt(input)
  if ((leadingDigits.exec(input)?.[0].length ?? 0) > maxLength) return 'int_parsing_size'
  const [word = '', ...others] = input.split(spaces).filter(Boolean)
  const match = others.length === 0 ? integerGrammar.exec(word) : null
  if (!match) return 'int_parsing'
  const [, sign = '', afterZeros, digits = afterZeros ?? '0'] = match
  const text = `${sign}${digits.replaceAll('_', '')}`
  return text.length > maxLength ? 'int_parsing' : BigInt(text)
}

/** A bigint where a number cannot hold it exactly: other programs may store any id. */
export const exactInteger = (text: string): number | bigint =>
  Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
