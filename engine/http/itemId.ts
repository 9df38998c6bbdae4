/** Reads the `item_id` of a path: any text is one, but few texts name a row. */
import { parametersInvalid } from '../contract/errors.js'
import { idNotText } from '../contract/parameters.js'

/** The text that a path segment stands for; refused where it is no text at all. */
const decode = (segment: string): string => {
  try {
    const text = decodeURIComponent(segment)
    if (!text.includes('\0')) return text
  } catch {
    // A broken escape or bytes that are no UTF-8: refused below, like a NUL.
  }
  throw parametersInvalid([idNotText(segment)])
}

/** The id a segment names, or undefined with the text where no row can have it: ids are plain positive integers. */
export const readItemId = (segment: string): { id: number | undefined; text: string } => {
  const text = decode(segment)
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
  return { id: Number.isSafeInteger(id) ? id : undefined, text }
}
