/** Counts the values of a JSON text before it is parsed: one with very many would hold up every other request. */
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
