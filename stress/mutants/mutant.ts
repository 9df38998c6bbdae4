/** A mutant: the build with one rule broken, and the test suites that must notice. */

export interface Mutant {
  readonly name: string
  /** The rule that it breaks. */
  readonly rule: string
  /** The file of the build that it changes. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Each of them must have a test that fails. */
  readonly suites: readonly string[]
  readonly database: 'sqlite' | 'postgres'
}

interface Mutation {
  readonly rule: string
  readonly find: string
  readonly replace: string
  /** Overrides the suites of the file. */
  readonly suites?: readonly string[]
}

/** The mutants of one file of the build, by name. */
export const mutantsOf = (
  file: string,
  suites: readonly string[],
  mutations: Readonly<Record<string, Mutation>>,
  database: Mutant['database'] = 'sqlite',
): Mutant[] => Object.entries(mutations).map(([name, mutation]) => ({ name, file, suites, database, ...mutation }))
