/** Finds the properties of object literals in a source text, TypeScript or JSON, without evaluating it. */

/** A value in a source text, from `start` to `end`, and its properties if it is a literal or a call with one. */
export interface Literal {
  readonly start: number
  readonly end: number
  readonly entries: readonly Entry[]
}

/** A property, or an element of an array with its index as the key; `start` and `end` are those of what names it. */
export interface Entry {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly value: Literal
}

/** White space and comments. */
const gap = /(?:\s|\/\/[^\n]*|\/\*.*?\*\/)*/sy
const quotedText = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/sy
/** A regular expression, where a value can be: quotes and brackets in it have no meaning. */
const pattern = /(?<=[(,=:[!&|?{};>]\s*)\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y
const word = /[\p{L}_$][\p{L}\p{N}_$]*/uy
const number = /-?\d[\w.]*(?:[eE][+-]?\d+)?/y
const callee = /[\p{L}_$][\p{L}\p{N}_$.]*(?=\s*\()/uy

class Scanner {
  at = 0
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Moves past a match of a sticky expression, and returns it. */
  take(kind: RegExp): string | undefined {
    kind.lastIndex = this.at
    const match = kind.exec(this.text)?.[0]
    if (match !== undefined) this.at += match.length
    return match
  }

  /** The next character that is not white space or comment; empty at the end. */
  next(): string {
    this.take(gap)
    return this.text[this.at] ?? ''
  }

  /** Moves past a template string and the expressions in it. */
  template(): void {
    this.at++
    while (this.at < this.text.length && this.text[this.at] !== '`') {
      if (this.text.startsWith('${', this.at)) {
        this.at++
        this.brackets()
      } else this.at += this.text[this.at] === '\\' ? 2 : 1
    }
    this.at++
  }

  /** Moves past an opening bracket and everything up to its closing one. */
  brackets(): void {
    this.at++
    while (!/^[)\]}]?$/.test(this.next())) this.token()
    this.at++
  }

  /** Moves past one token; a pair of brackets and its content is one token. */
  token(): void {
    const sign = this.next()
    if (sign === '`') this.template()
    else if ('([{'.includes(sign)) this.brackets()
    else if (![quotedText, pattern, word].some((kind) => this.take(kind) !== undefined)) this.at++
  }

  /** A value up to the comma or bracket that ends it. */
  value(): Literal {
    const sign = this.next()
    const start = this.at
    let entries: Entry[] = []
    if (sign === '{') entries = this.properties()
    else if (sign === '[') entries = this.elements()
    else if (this.take(callee) !== undefined && this.next() === '(') {
      this.at++
      if (this.next() === '{') entries = this.properties()
      while (!/^\)?$/.test(this.next())) this.token()
      this.at++
    }
    let end = this.at
    while (!/^[,)\]}]?$/.test(this.next())) {
      this.token()
      end = this.at
    }
    return { start, end, entries }
  }

  properties(): Entry[] {
    const entries: Entry[] = []
    this.at++
    while (!/^}?$/.test(this.next())) {
      const start = this.at
      const quoted = this.take(quotedText)
      const key = quoted?.slice(1, -1) ?? this.take(word) ?? this.take(number)
      const end = this.at
      if (this.next() === ':') this.at++
      const value = this.value()
      // Without a key it is a spread or a computed name.
      if (key !== undefined) entries.push({ key, start, end, value })
      if (this.next() === ',') this.at++
      else if (this.text[this.at] !== '}') break
    }
    this.at++
    return entries
  }

  elements(): Entry[] {
    const entries: Entry[] = []
    this.at++
    while (!/^\]?$/.test(this.next())) {
      const value = this.value()
      entries.push({ key: String(entries.length), start: value.start, end: value.end, value })
      if (this.next() === ',') this.at++
      else if (this.text[this.at] !== ']') break
    }
    this.at++
    return entries
  }
}

/** The literal in a JSON text. */
export const jsonLiteral = (text: string): Literal => new Scanner(text).value()

/** The words of a TypeScript source, without those in comments and strings, and where each begins. */
export function* wordsOf(text: string): Generator<{ word: string; start: number }> {
  const scanner = new Scanner(text)
  while (scanner.next() !== '') {
    const start = scanner.at
    const found = scanner.take(word)
    if (found !== undefined) yield { word: found, start }
    else if (scanner.text[start] === '`') scanner.template()
    else if (scanner.take(quotedText) === undefined && scanner.take(pattern) === undefined) scanner.at++
  }
}

/** The literal that a resource file passes to `defineResource`, or exports without it. */
export const descriptorLiteral = (text: string): Literal | undefined => {
  for (const { word, start } of wordsOf(text)) {
    const opening = /^\s*(?:\(\s*)?{/.exec(text.slice(start + word.length))
    if (!opening || (word !== 'defineResource' && word !== 'default')) continue
    const scanner = new Scanner(text)
    scanner.at = start + word.length + opening[0].length - 1
    return scanner.value()
  }
  return undefined
}
