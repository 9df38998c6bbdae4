/** Matches whole texts with a regular expression in time linear in the text, which JavaScript's own matcher does not promise. */
import { RE2JS } from 're2js'

/** The longest text that a pattern is matched with, in code points. */
export const maxPatternLength = 1_000

/** What `\s` and `.` mean in JavaScript; RE2 knows only ASCII. */
const spaces = '\\s\\v\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const notLineEnd = '[^\\n\\r\\x{2028}\\x{2029}]'

const translate = (source: string): string => {
  let isInClass = false
  const translated = source.replaceAll(/\\.|[[\].]/gs, (token) => {
    if (token === '[') isInClass = true
    if (token === ']') isInClass = false
    if (token === '\\s') return isInClass ? spaces : `[${spaces}]`
    if (token === '\\S' && !isInClass) return `[^${spaces}]`
    return token === '.' && !isInClass ? notLineEnd : token
  })
  return RE2JS.translateRegExp(translated)
}

/** Compiles an expression; throws an Error that says what is wrong with it. */
export const compilePattern = (source: string): ((text: string) => boolean) => {
  // Finds the errors of syntax, in the words of JavaScript.
  new RegExp(source, 'u')
  const pattern = RE2JS.compile(translate(source))
  return (text) => pattern.matches(text)
}
