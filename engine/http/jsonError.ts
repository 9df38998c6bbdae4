/** Locates the first syntax error of a JSON text: V8's own messages quote the text, which may be a secret. */

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** The end of what a sticky pattern matches at an index; -1 where it does not match. */
const matchEnd = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

const skipWhitespace = (text: string, start: number): number => {
  let at = start
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** Steps over a string; returns the index behind it, or the index of the error and `isValid: false`. */
const skipString = (text: string, start: number): { at: number; isValid: boolean } => {
  let at = start + 1
  while (at < text.length) {
    const sign = text.charCodeAt(at)
    if (sign === 0x22) return { at: at + 1, isValid: true }
    if (sign < 0x20) break
    const end = sign === 0x5c ? matchEnd(escapeSequence, text, at) : at + 1
    if (end === -1) break
    at = end
  }
  return { at, isValid: false }
}

/** The index of the first syntax error. */
const errorIndex = (text: string): number => {
  // Open objects and arrays; a stack of our own, because nesting may be deeper than the call stack.
  const open: ('{' | '[')[] = []
  let expects: 'value' | 'value or ]' | 'key' | 'key or }' | 'separator' = 'value'
  let at = 0
  for (;;) {
    at = skipWhitespace(text, at)
    const sign = text[at]
    if (expects === 'separator') {
      const inside = open.at(-1)
      if (inside === undefined) return at
      if (sign === ',') expects = inside === '{' ? 'key' : 'value'
      else if (sign === (inside === '{' ? '}' : ']')) open.pop()
      else return at
      at++
    } else if (sign === '}' && expects === 'key or }') {
      open.pop()
      expects = 'separator'
      at++
    } else if (sign === ']' && expects === 'value or ]') {
      open.pop()
      expects = 'separator'
      at++
    } else if (expects === 'key' || expects === 'key or }') {
      if (sign !== '"') return at
      const key = skipString(text, at)
      if (!key.isValid) return key.at
      at = skipWhitespace(text, key.at)
      if (text[at] !== ':') return at
      at++
      expects = 'value'
    } else if (sign === '{' || sign === '[') {
      open.push(sign)
      expects = sign === '{' ? 'key or }' : 'value or ]'
      at++
    } else if (sign === '"') {
      const value = skipString(text, at)
      if (!value.isValid) return value.at
      at = value.at
      expects = 'separator'
    } else {
      const end = matchEnd(scalar, text, at)
      if (end === -1) return at
      at = end
      expects = 'separator'
    }
  }
}

/** Where a text that JSON.parse refused stops being JSON, in words: `unexpected character at line 2, column 7`. */
export const jsonErrorPlace = (text: string): string => {
  const at = errorIndex(text)
  const before = text.slice(0, at).split('\n')
  const what = at >= text.length ? 'unexpected end' : 'unexpected character'
  return `${what} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
