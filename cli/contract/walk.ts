/** The walk through two documents: where it is, and how the keywords of two objects are compared. */
import type { Emit } from './differences.js'
import { allKeys, isSame, type Json } from './json.js'
import type { Detail, RuleName } from './rules.js'

/** A place in both documents. */
export interface At extends Pick<Detail, 'subject' | 'side'> {
  readonly emit: Emit
  /** The named schemas of the documents, and the pairs of them that were compared already. */
  readonly schemas: readonly [before: Json, after: Json]
  readonly seen: Set<string>
}

export type Compare = (before: unknown, after: unknown, at: At) => void

export const report = ({ emit, subject, side }: At, rule: RuleName, before?: unknown, after?: unknown): void =>
  emit(rule, { subject, side, before, after })

export const changed =
  (rule: RuleName): Compare =>
  (before, after, at) => {
    if (!isSame(before, after)) report(at, rule, before, after)
  }

/** A keyword that is true, or absent. */
export const toggled =
  (on: RuleName, off: RuleName): Compare =>
  (before, after, at) => {
    if ((before === true) !== (after === true)) report(at, after === true ? on : off)
  }

/** The members that only one of two lists has. */
export const compareLists = (
  before: readonly unknown[],
  after: readonly unknown[],
  at: At,
  [added, removed]: readonly [added: RuleName, removed: RuleName],
): void => {
  const lacks = (list: readonly unknown[], value: unknown) => !list.some((other) => isSame(other, value))
  for (const value of after) if (lacks(before, value)) report(at, added, undefined, value)
  for (const value of before) if (lacks(after, value)) report(at, removed, value)
}

/** The keywords that only people read. */
export const wordings: Readonly<Record<string, RuleName>> = {
  description: 'description-changed',
  summary: 'description-changed',
  'x-extensible-enum': 'description-changed',
  example: 'example-changed',
  examples: 'example-changed',
}

/** Compares two objects: each keyword as it is known, and any other as one of unknown effect. */
export const compareKeywords = (
  keywords: Readonly<Record<string, Compare>>,
  before: Json,
  after: Json,
  at: At,
): void => {
  for (const [key, compare] of Object.entries(keywords)) compare(before[key], after[key], at)
  for (const key of allKeys(before, after)) {
    if (Object.hasOwn(keywords, key) || isSame(before[key], after[key])) continue
    const rule = Object.hasOwn(wordings, key) ? wordings[key] : undefined
    if (rule) report(at, rule)
    else report({ ...at, subject: `${at.subject}: ${key}` }, 'keyword-changed', before[key], after[key])
  }
}
