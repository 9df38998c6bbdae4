/** Converts stored values to another kind, if nothing is lost. */
import { type Column, canonicalOf, isText, isValueOf, type KindSpec, kindOf } from '../../descriptor/kinds/index.js'
import type { GivenValue } from '../../descriptor/registry.js'

/** The value as responses show it, for one that is given as the text that the column has. */
export const displayText = (stored: string, { display }: Column): string => display?.(stored) ?? stored

/** The value of kind `to` for one of kind `from`, which is given as the text that the column has; undefined if there is none. */
export const convert = (stored: string, from: KindSpec, column: Column, to: KindSpec): GivenValue | undefined => {
  const text = displayText(stored, column)
  const { convert: convertKind } = kindOf(to.kind)
  if (convertKind) return convertKind(text, kindOf(from.kind), to)
  return isText(from) && isValueOf(to, text) ? canonicalOf(to, text) : undefined
}
