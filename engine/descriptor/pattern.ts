/**
 * Matches whole texts with a regular expression in time linear in the text, whatever the expression is: it follows all ways
 * through the expression at once, where JavaScript's own matcher would try one after another.
 */

/** One character of the expression, such as `a`, `.`, `\d` or `[a-z]`: whether a character of the text is one. */
type Atom = (character: string) => boolean

/** A part of an expression: the atoms it may begin and end with, and whether it matches the empty text. */
interface Part {
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly isEmpty: boolean
}

/** Counted repetitions are written out. */
const maxAtoms = 2_000

/** How many pairs of characters may follow each other: bounds the time of a match, 10 ms for 1,000 characters. */
const maxSteps = 5_000

/** How many steps are remembered for the next texts: a step costs 20 times less then. */
const maxMoves = 5_000

const quantifier = /([*+?]|\{(\d+)(,(\d*))?\})\??/y
const atomForm =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|.)|\[(?:\\.|[^\]\\])*\]|[^()[\]|]/suy

const refused: readonly (readonly [form: RegExp, what: string])[] = [
  [/\(\?<?[=!]/y, 'a lookaround'],
  [/\\(?:[1-9]|k<)/y, 'a back-reference'],
  [/\\[bB]/y, 'a word boundary'],
  [/[\^$]/y, 'an anchor (the whole value must match anyway)'],
  [/\(\?[a-z-]*:(?<!\(\?:)/y, 'a modifier'],
]

/** Compiles an expression; throws an Error that says what is wrong with it. */
export const compilePattern = (source: string): ((text: string) => boolean) => {
  // Finds the errors of syntax.
  new RegExp(source, 'u')
  const atoms: Atom[] = []
  /** The atoms that may follow each atom. */
  const next: Set<number>[] = []
  let at = 0

  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at
    const match = form.exec(source)
    if (match) at += match[0].length
    return match
  }
  let steps = 0
  const join = (from: readonly number[], to: readonly number[]): void => {
    steps += from.length * to.length
    if (steps > maxSteps) throw new Error('it is too complex')
    for (const atom of from) for (const follower of to) next[atom]?.add(follower)
  }
  const nothing: Part = { first: [], last: [], isEmpty: true }
  const sequence = (a: Part, b: Part): Part => {
    join(a.last, b.first)
    return {
      first: a.isEmpty ? [...a.first, ...b.first] : a.first,
      last: b.isEmpty ? [...a.last, ...b.last] : b.last,
      isEmpty: a.isEmpty && b.isEmpty,
    }
  }
  const loop = (part: Part): Part => {
    join(part.last, part.first)
    return part
  }

  /** Reads what a quantifier applies to. It is read again for each repetition, because each has its own atoms. */
  const readUnit = (): Part => {
    for (const [form, what] of refused) if (take(form)) throw new Error(`it has ${what}`)
    if (take(/\((?:\?:|\?<\w+>)?/y)) {
      const part = readChoice()
      take(/\)/y)
      return part
    }
    const raw = take(atomForm)?.[0] ?? ''
    if (atoms.length >= maxAtoms) throw new Error(`written out, it has more than ${maxAtoms} characters`)
    const form = new RegExp(`^${raw}$`, 'u')
    atoms.push((character) => form.test(character))
    next.push(new Set())
    const atom = [atoms.length - 1]
    return { first: atom, last: atom, isEmpty: false }
  }
  const readRepeated = (): Part => {
    const start = at
    let part = readUnit()
    const match = take(quantifier)
    if (!match) return part
    const [, sign, least, comma, most] = match
    const after = at
    const again = (): Part => {
      at = start
      return readUnit()
    }
    if (sign === '*') part = { ...loop(part), isEmpty: true }
    else if (sign === '+') part = loop(part)
    else if (sign === '?') part = { ...part, isEmpty: true }
    else {
      const min = Number(least)
      const max = comma === undefined ? min : most === '' ? Math.max(min, 1) : Number(most)
      const parts = [part]
      while (parts.length < max) parts.push(again())
      if (most === '') loop(parts[max - 1] ?? nothing)
      // x{2,4} is xx(x(x)?)?, so that the number of ways stays linear.
      part = parts.slice(0, max).reduceRight((rest, copy, n) => {
        const joined = sequence(copy, rest)
        return n < min ? joined : { ...joined, isEmpty: true }
      }, nothing)
    }
    at = after
    return part
  }
  const readSequence = (): Part => {
    let part = nothing
    while (at < source.length && source[at] !== '|' && source[at] !== ')') part = sequence(part, readRepeated())
    return part
  }
  const readChoice = (): Part => {
    let part = readSequence()
    while (take(/\|/y)) {
      const other = readSequence()
      part = {
        first: [...part.first, ...other.first],
        last: [...part.last, ...other.last],
        isEmpty: part.isEmpty || other.isEmpty,
      }
    }
    return part
  }

  const whole = readChoice()
  const ends = new Set(whole.last)

  /** A set of atoms of which the next character may be any, and the sets that follow each character. */
  interface State {
    readonly candidates: ReadonlySet<number>
    readonly isEnd: boolean
    readonly moves: Map<string, State>
  }
  let states = new Map<string, State>()
  let moves = 0
  const stateOf = (candidates: ReadonlySet<number>, isEnd: boolean): State => {
    const key = `${isEnd} ${[...candidates].sort((a, b) => a - b)}`
    const state = states.get(key) ?? { candidates, isEnd, moves: new Map() }
    states.set(key, state)
    return state
  }
  const move = ({ candidates, moves: known }: State, character: string): State => {
    const found = [...candidates].filter((atom) => atoms[atom]?.(character))
    const isEnd = found.some((atom) => ends.has(atom))
    const state = stateOf(new Set(found.flatMap((atom) => [...(next[atom] ?? [])])), isEnd)
    known.set(character, state)
    if (++moves % maxMoves === 0) states = new Map()
    return state
  }
  return (text) => {
    let state = stateOf(new Set(whole.first), whole.isEmpty)
    for (const character of text) state = state.moves.get(character) ?? move(state, character)
    return state.isEnd
  }
}
