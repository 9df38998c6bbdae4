/** Differences between a descriptor and its table that need a maintainer, and the approvals of them: `drop:TABLE.COLUMN`. */
import { commandLine } from '../../process/commandLine.js'

export interface Difference {
  readonly table: string
  readonly column?: string | undefined
  readonly message: string
  readonly advice: string
  /** What `npm run migrate -- --apply` is given to carry it out; undefined if rows or the descriptor must change first. */
  readonly approval?: string | undefined
  /** Whether a start is refused because of it. */
  readonly isBlocking: boolean
  /** Whether `npm run check` reports it although a start is not refused: responses break their schema. */
  readonly isError?: true
}

export const describeDifference = ({ table, column, message, advice }: Difference): string =>
  `table "${table}"${column === undefined ? '' : `, column "${column}"`}: ${message} ${advice}`

/** Whether the change only adds to the database: a file of `migrations/` that is to run approves it. */
export const isAddition = ({ approval }: Pick<Difference, 'approval'>): boolean =>
  /^(?:add|create):/.test(approval ?? '')

/** The command that applies changes; values may need the quotes of a shell. */
export const applyCommand = (approval: string): string => {
  const quoted = /^[\w:.,=-]*$/.test(approval) ? approval : `'${approval.replaceAll("'", `'\\''`)}'`
  return commandLine('migrate', `--apply ${quoted}`)
}

/**
 * A sentence with one command for several approvals, each of which is refused without the others; undefined if no approval is missing, or if
 * one is enough.
 */
export const applyTogether = (
  differences: readonly Difference[],
  given: readonly string[] = [],
): string | undefined => {
  const missing = differences.flatMap(({ approval, isBlocking }) =>
    isBlocking && approval !== undefined ? [approval] : [],
  )
  const approvals = [...given, ...missing]
  if (missing.length === 0 || approvals.length === 1) return undefined
  return `If all of this is what you want, run: ${applyCommand(approvals.join(','))}`
}

const verbs = ['add', 'create', 'descriptors', 'drop', 'fill', 'rename', 'retarget', 'retype', 'set']

/** The entries of `--apply`, joined by commas; a value that fills rows may have commas too. */
export const splitApprovals = (given: string): string[] =>
  given.split(new RegExp(`,(?=\\s*(?:,|$|(?:${verbs.join('|')}):))`)).map((approval) => approval.trim())

/** What is wrong with the form of an approval; undefined if nothing is. */
export const approvalError = (approval: string): string | undefined => {
  const [, verb = '', table] = /^([^:]*)(?::(.*))?$/.exec(approval) ?? []
  if (!verbs.includes(verb)) return `"${approval}" must begin with one of ${verbs.map((one) => `${one}:`).join(', ')}`
  return table ? undefined : `"${approval}" names no table; use the form that ${commandLine('plan')} prints`
}

/** The approvals that were given, and which of them the comparison has asked for. */
export const approvalsFrom = (approvals: readonly string[]) => {
  const givenApprovals = [...new Set(approvals)]
  const unused = new Set(givenApprovals)
  /** Whether a change was approved, or all of several that are joined by commas. */
  const has = (approval: string): boolean =>
    splitApprovals(approval).every((part) => {
      unused.delete(part)
      return givenApprovals.includes(part)
    })
  return {
    has,
    /** The value of `fill:TABLE.COLUMN=VALUE`, given what precedes it. */
    valueOf(approval: string): string | undefined {
      const filled = givenApprovals.find((one) => one.startsWith(`${approval}=`))
      return filled !== undefined && has(filled) ? filled.slice(approval.length + 1) : undefined
    },
    /** What was given after a beginning such as `set:TABLE.COLUMN:`. */
    after: (beginning: string): string[] =>
      givenApprovals.filter((one) => one.startsWith(beginning)).map((one) => one.slice(beginning.length)),
    used: () => givenApprovals.filter((approval) => !unused.has(approval)),
    unused: () => [...unused],
  }
}

export type Approvals = ReturnType<typeof approvalsFrom>

/** Collects the differences of a table. */
export const tableDifferences = (table: string, approvals: Approvals) => {
  const differences: Difference[] = []
  const add = (message: string, advice: string, column?: string, approval?: string, isBlocking = true): void =>
    void differences.push({ table, column, message, advice, isBlocking, approval })
  return {
    all: differences,
    approvals,
    add,
    isBlocking: () => differences.some(({ isBlocking }) => isBlocking),
    /** Whether a change was approved; adds it otherwise, with the command that approves it at the end of the advice. */
    isApproved(approval: string, message: string, advice: string, column?: string, isBlocking?: boolean): boolean {
      if (approvals.has(approval)) return true
      add(message, `${advice} ${applyCommand(approval)}`, column, approval, isBlocking)
      return false
    },
  }
}

export type TableDifferences = ReturnType<typeof tableDifferences>
