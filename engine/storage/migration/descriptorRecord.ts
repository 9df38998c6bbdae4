/** Which descriptors a database was last migrated to, so that a process with older ones does not undo the newer. */
import { createHash } from 'node:crypto'
import {
  type Field,
  managedResources,
  type Registry,
  type Resource,
  searchedFields,
} from '../../descriptor/registry.js'
import { literal, wantedForeignKey } from '../schema.js'
import { findColumn } from './catalogue.js'
import { type Approvals, applyCommand, type Difference } from './difference.js'
import type { MigrationDialect, OwnTable, Step } from './migrationDialect.js'

const recordTable = 'registry_descriptors'

/** A row for each set of descriptors, in order of `at`; the last has its facts. */
export const recordTables: Readonly<Record<string, OwnTable>> = {
  [recordTable]: {
    create: [`create table ${recordTable} (digest text primary key, at text not null, facts text)`],
    columns: ['digest', 'at', 'facts'],
  },
}

/** What a set of descriptors asks of the database; facts with the same words are the same. */
interface Fact {
  readonly table: string
  readonly about: string
  readonly field?: string
  readonly isSearched?: boolean
  readonly index?: string
  /** The fields of a unique index. */
  readonly unique?: readonly string[] | undefined
  /** Whether each set of descriptors has its own. */
  readonly isOfSet?: boolean | undefined
  /** Whether only an earlier set asks for it. */
  readonly isKept?: boolean
}

interface RecordedSet {
  readonly digest: string
  readonly at: string
  readonly facts: readonly Fact[]
}

const fieldFacts = (registry: Registry, { table }: Resource, field: Field): Fact[] => {
  const { name, kind, required, redacted } = field
  const key = wantedForeignKey(registry, field)
  const fact = (words: string): Fact => ({ table, field: name, about: `${table}.${name} ${words}` })
  return [
    fact(`of kind ${kind}`),
    ...(required ? [fact('required')] : []),
    ...(redacted ? [fact('redacted')] : []),
    ...(key ? [fact(`referencing ${key.target} (${key.onDelete})`)] : []),
  ]
}

const searchedFact = (table: string, field: string): Fact => ({
  table,
  field,
  isSearched: true,
  about: `${table}.${field} searched`,
})

const describeSet = ({ mode, functionsDigest, derivedObjects }: MigrationDialect, registry: Registry) => {
  const facts = managedResources(registry).flatMap((resource): Fact[] => {
    const { table } = resource
    const fields = resource.fields.filter(({ name }) => name !== 'id')
    return [
      ...fields.flatMap((field) => fieldFacts(registry, resource, field)),
      ...searchedFields(resource).map(({ name }) => searchedFact(table, name)),
      ...derivedObjects(resource, registry).indexes.map(
        ({ name, unique, isOfSet }): Fact => ({ table, index: name, about: `the index ${name}`, unique, isOfSet }),
      ),
    ]
  })
  if (functionsDigest) facts.push({ table: '', about: `the functions ${functionsDigest.slice(0, 8)}` })
  const words = facts.map(({ about }) => about).join('\n')
  return { facts, digest: `${mode}-${createHash('sha256').update(words).digest('hex').slice(0, 12)}` }
}

const readSets = async ({ catalogue, execute }: MigrationDialect): Promise<RecordedSet[]> => {
  if (!(await catalogue(recordTable))) return []
  const rows = await execute<{ digest: string; at: string; facts: string | null }>(
    `select digest, at, facts from ${recordTable} order by at`,
  )
  return rows.map(({ facts, ...set }) => ({ ...set, facts: JSON.parse(facts ?? '[]') }))
}

const keep = (fact: Fact): Fact => ({ ...fact, isKept: true })

const json = (facts: readonly Fact[]): string => literal(JSON.stringify(facts))

/** The names of one list, with those that only an earlier one has at the places that they had. */
const mergeNames = (names: readonly string[], earlier: readonly string[]): string[] => {
  const merged = [...names]
  for (const [n, name] of earlier.entries()) {
    if (merged.includes(name)) continue
    const previous = earlier.slice(0, n).findLast((one) => merged.includes(one))
    merged.splice(previous === undefined ? 0 : merged.indexOf(previous) + 1, 0, name)
  }
  return merged
}

const textField = (name: string): Field => ({
  name,
  column: name,
  kind: 'text',
  required: false,
  unique: undefined,
  format: undefined,
})

/**
 * Compares the descriptors with those that the database was last migrated to.
 *
 * - Descriptors that the database was migrated to before the last ones are older: they change nothing but their own objects, and serve
 *   the tables as the newer ones left them, or are refused if they need more. An operator may approve that they replace the newer ones.
 * - All others are newer, and the database is migrated to them. What only the last ones ask for is kept where it is in nobody's way,
 *   because processes with those may still run: columns without a field, their indexes and their searched text, and indexes for
 *   filters and orders. A column or index that is gone from the database is no longer kept, nor is a unique index of fields that
 *   these descriptors have, nor the objects of a set before the last one.
 * - The searched text of a row has the fields of these descriptors and those that are kept, at the places that they had.
 */
export const compareRecord = async (database: MigrationDialect, registry: Registry, approvals?: Approvals) => {
  const { mode, catalogue, existingObjects } = database
  const managed = managedResources(registry)
  const { facts, digest } = describeSet(database, registry)
  const sets = await readSets(database)
  const last = sets.at(-1)
  const isSame = last?.digest === digest
  // Another value of DERIVED_OBJECTS is an operator's decision, not an older version.
  const recorded = last?.digest.startsWith(mode) ? last.facts : []
  const lacks = (among: readonly Fact[], fact: Fact) => !among.some(({ about }) => about === fact.about)
  const lost = recorded.filter((fact) => lacks(facts, fact))
  const missing = facts.filter((fact) => lacks(recorded, fact))
  const wanted = missing.filter(({ isOfSet }) => !isOfSet)
  const isKnown = !isSame && recorded.length > 0 && sets.some((set) => set.digest === digest)
  const approval = `descriptors:${digest}`
  const isApproved = (isKnown || lost.length > 0) && approvals?.has(approval) === true
  const isOlder = isKnown && !isApproved
  const resourceOf = (table: string) => managed.find((resource) => resource.table === table)
  const hasField = (table: string, name: string) => resourceOf(table)?.fields.some((field) => field.name === name)

  /** Whether a fact that these descriptors lack stays; one that an operator has removed is gone. */
  const isLeft = async ({ table, field, index, unique, isOfSet, isKept }: Fact): Promise<boolean> => {
    const current = table ? await catalogue(table) : undefined
    if (!current) return false
    if (field !== undefined) return !hasField(table, field) && findColumn(current, field) !== undefined
    // Values are no longer unique; and the rows are indexed as the set before reads them, not as earlier ones did.
    if (unique?.every((name) => hasField(table, name)) || (isOfSet && isKept && !isSame)) return false
    return (await existingObjects({ table })).names.some(({ name }) => name === index)
  }
  const kept: Fact[] = []
  if (!isApproved) for (const fact of lost) if (await isLeft(fact)) kept.push(keep(fact))

  const searchedNames = (table: string, among: readonly Fact[]) =>
    among.filter((fact) => fact.table === table && fact.isSearched).map(({ field }) => String(field))
  const searched = (resource: Resource): string[] => {
    const { table } = resource
    if (isOlder) return searchedNames(table, recorded)
    const names = searchedFields(resource).map(({ name }) => name)
    const keptNames = searchedNames(table, kept)
    return mergeNames(
      names,
      searchedNames(table, recorded).filter((name) => names.includes(name) || keptNames.includes(name)),
    )
  }
  /** A resource whose searched text is that which the triggers compute. */
  const withSearched = (resource: Resource): Resource => {
    const names = searched(resource)
    const otherFields = resource.fields.filter(({ name }) => !names.includes(name))
    const fields = names.map((name) => resource.fields.find((field) => field.name === name) ?? textField(name))
    return { ...resource, fields: [...otherFields, ...fields] }
  }

  /** The facts of these descriptors and those that are kept; searched fields are in the order of the searched text. */
  const allFacts = (): Fact[] => [
    ...facts.filter(({ isSearched }) => !isSearched),
    ...managed.flatMap((resource) =>
      searched(resource).map((name) => {
        const fact = searchedFact(resource.table, name)
        return lacks(facts, fact) ? keep(fact) : fact
      }),
    ),
    ...kept.filter((fact) => !fact.isSearched || resourceOf(fact.table) === undefined),
  ]

  const list = (listed: readonly Fact[]) => listed.map(({ about }) => about).join(', ')
  const difference = (table: string, message: string, advice: string, isBlocking: boolean): Difference => ({
    table,
    message,
    advice: `${advice} ${applyCommand(approval)}`,
    approval,
    isBlocking,
  })
  const table = String((wanted[0] ?? lost[0])?.table || managed[0]?.table)

  /** The only difference of an older set: it is served as the newer one left the database, or refused. */
  const olderDifference = (others: readonly Difference[]): Difference => {
    const since = `the database was migrated to newer descriptors at ${last?.at}`
    const other = others.find(({ isBlocking }) => isBlocking)?.message
    const advice = 'If those are not served any more, and these are to replace them, run:'
    if (wanted.length === 0 && other === undefined)
      return difference(table, `${since}, and stays as they ask.`, advice, false)
    const reason = wanted.length > 0 ? `, which do not ask for ${list(wanted)}.` : `: ${other}`
    return difference(table, since + reason, `Start the service with the newer descriptors. ${advice}`, true)
  }
  /** The indexes that only earlier sets ask for. */
  const keptDifferences = (): Difference[] =>
    managed.flatMap((resource) => {
      const keptIndexes = kept.filter(({ table: of, index, isOfSet }) => of === resource.table && index && !isOfSet)
      const message = `only earlier descriptors ask for ${list(keptIndexes)}.`
      const advice = 'If they are not served any more, run:'
      return keptIndexes.length > 0 ? [difference(resource.table, message, advice, false)] : []
    })

  return {
    isOlder,
    /** Whether no earlier descriptors had a field, although its table may have the column already. */
    isNewField: (ofTable: string, field: string): boolean =>
      recorded.length > 0 && !recorded.some((fact) => fact.table === ofTable && fact.field === field),
    isKept: (name: string): boolean => kept.some(({ index }) => index === name),
    withSearched,
    differences: (others: readonly Difference[]): Difference[] =>
      isOlder ? [olderDifference(others)] : [...others, ...keptDifferences()],
    /** Adds to some steps the one that records the descriptors; where they replace all others, those are forgotten. */
    withStep(steps: readonly Step[]): Step[] {
      const planned = isOlder ? steps.filter(({ isOfSet }) => isOfSet) : [...steps]
      // A table that is rebuilt is planned again.
      const isUnfinished = planned.some(({ isRebuilding }) => isRebuilding)
      if (isUnfinished || (!isApproved && (isSame || planned.length === 0))) return planned
      const isAdding = !isApproved && wanted.length === 0 && planned.every(({ isOfSet }) => isOfSet)
      const sql = isAdding
        ? [
            `update ${recordTable} set facts = ${json([...recorded, ...missing.map(keep)])} where digest = '${last?.digest}'`,
          ]
        : [
            `delete from ${recordTable}${isApproved ? '' : ` where digest = '${digest}'`}`,
            `update ${recordTable} set facts = null`,
            `insert into ${recordTable} values ('${digest}', '${new Date().toISOString()}', ${json(allFacts())})`,
          ]
      return [...planned, { table: recordTable, about: 'record the descriptors', sql }]
    },
  }
}
