/** Collects the differences between two documents, and merges equal ones of several operations. */
import { type Detail, describe, getRule, type RuleName } from './rules.js'

type Audience = 'readers' | 'writers' | 'generated clients'

export interface Difference {
  readonly rule: RuleName
  readonly subject: string
  /** The operations concerned; none if it concerns the document. */
  readonly operations: readonly string[]
  readonly message: string
  /** Who breaks, and why. */
  readonly breaks: readonly { readonly audience: Audience; readonly reason: string }[]
}

/** Reports a difference of the current operation. */
export type Emit = (rule: RuleName, detail: Detail) => void

/** Readers send GET requests. A row that both get and create return is reported for readers. */
const findAudience = (operations: readonly string[]): Audience[] => {
  const isRead = (operation: string) => operation.startsWith('GET ')
  if (operations.length === 0) return ['readers', 'writers']
  return operations.some(isRead) ? ['readers'] : ['writers']
}

const makeDifference = (rule: RuleName, detail: Detail, operations: readonly string[]): Difference => {
  const { breaks = {}, breaksGenerated } = getRule(rule)
  const reason = breaks[detail.side]
  return {
    rule,
    subject: detail.subject,
    operations,
    message: describe(rule, detail),
    breaks: [
      ...(reason === undefined ? [] : findAudience(operations).map((audience) => ({ audience, reason }))),
      ...(breaksGenerated === undefined ? [] : [{ audience: 'generated clients' as const, reason: breaksGenerated }]),
    ],
  }
}

export const differenceList = () => {
  const entries = new Map<string, { rule: RuleName; detail: Detail; operations: Set<string> }>()
  return {
    /** The function that reports the differences of an operation, or those of the whole document. */
    emitFor:
      (operation?: string): Emit =>
      (rule, detail) => {
        const key = JSON.stringify([rule, detail])
        const entry = entries.get(key) ?? { rule, detail, operations: new Set<string>() }
        if (operation !== undefined) entry.operations.add(operation)
        entries.set(key, entry)
      },
    /** All differences; a changed description is reported only if its subject has no other difference. */
    all: (): Difference[] => {
      const lines = [...entries.values()].map(({ rule, detail, operations }) =>
        makeDifference(rule, detail, [...operations]),
      )
      const isImplied = ({ rule, subject }: Difference) =>
        rule === 'description-changed' && lines.some((other) => other.rule !== rule && other.subject === subject)
      return lines.filter((difference) => !isImplied(difference))
    },
  }
}
