/** Locates the first syntax error of a JSON text: V8's own messages quote the text, which may be a secret. */

const space = /[ \n\r\t]*/y

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** A string, or the valid beginning of one; the group is the closing quote. */
const string = /"(?:[ !#-[\]-\u{10ffff}]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*("?)/uy

export const jsonErrorIndex = (text: string): number => {
  // The closing brackets of everything that is open; not recursion, because nesting may be deeper than the call stack.
  const closers: ('}' | ']')[] = []
  let expects: 'value' | 'key' | 'colon' | 'separator' = 'value'
  let isFirst = false
  for (let at = 0; ; at++) {
    space.lastIndex = at
    space.test(text)
    at = space.lastIndex
    const sign = text[at]
    const closer = closers.at(-1)
    if (sign !== undefined && sign === closer && (isFirst || expects === 'separator')) {
      closers.pop()
      expects = 'separator'
    } else if (expects === 'separator') {
      if (sign !== ',' || closer === undefined) return at
      expects = closer === '}' ? 'key' : 'value'
    } else if (expects === 'colon') {
      if (sign !== ':') return at
      expects = 'value'
    } else if (sign === '"') {
      string.lastIndex = at
      const [match = '', quote] = string.exec(text) ?? []
      at += match.length - 1
      if (!quote) return at + 1
      expects = expects === 'key' ? 'colon' : 'separator'
    } else if (expects === 'value' && (sign === '{' || sign === '[')) {
      closers.push(sign === '{' ? '}' : ']')
      expects = sign === '{' ? 'key' : 'value'
      isFirst = true
      continue
    } else {
      scalar.lastIndex = at
      if (expects === 'key' || !scalar.test(text)) return at
      at = scalar.lastIndex - 1
      expects = 'separator'
    }
    isFirst = false
  }
}

/** Where a text that JSON.parse refused stops being JSON, in words: `unexpected character at line 2, column 7`. */
export const jsonErrorPlace = (text: string): string => {
  const at = jsonErrorIndex(text)
  const what = at >= text.length ? 'unexpected end' : 'unexpected character'
  let [line, start] = [1, 0]
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line++
    start = end + 1
  }
  return `${what} at line ${line}, column ${at - start + 1}`
}
