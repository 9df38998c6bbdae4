/** Compares a descriptor with its table: the shape that it should have, and the differences that need a maintainer. */

import { didYouMean } from '../../descriptor/nearest.js'
import type { Field, GivenValue } from '../../descriptor/registry.js'
import { constantDefault } from '../schema.js'
import { type CatalogueColumn, type ColumnShape, columnOf, shapeOf, type TableShape } from './catalogue.js'
import {
  approvedFill,
  blocked,
  type Comparison,
  compareColumn,
  compareDefault,
  fillDifference,
} from './columnDifferences.js'
import { applyCommand, type Difference } from './difference.js'
import { exampleRows, rowCount } from './rowChecks.js'

export interface ComparedTable {
  readonly differences: readonly Difference[]
  /** The table as it should be, without the fields that it lacks. */
  readonly shape: TableShape
  /** The fields that it lacks. */
  readonly added: readonly Field[]
}

/** The columns that no field uses, not even one that was renamed. */
export const unusedColumns = ({ resource, current }: Comparison): CatalogueColumn[] => {
  const isUsed = (column: string) =>
    resource.fields.some(
      ({ name, renamedFrom }) => name === column || (renamedFrom === column && !columnOf(current, name)),
    )
  return current.columns.filter(({ name }) => !isUsed(name))
}

/** Why a missing column cannot just be added; undefined if it can. */
const compareMissing = async (
  comparison: Comparison,
  field: Field,
  filled: GivenValue | undefined,
): Promise<Difference | undefined> => {
  const { database, resource, current, approvals } = comparison
  const { name, kind, required } = field
  const rows = await rowCount({ database, table: current.name })
  if (rows === 0) return undefined
  const approval = `add:${resource.table}.${name}`
  const unused = unusedColumns(comparison)
  if (field.renamedFrom !== undefined && !approvals.has(approval)) {
    const suggestion = didYouMean(
      field.renamedFrom,
      unused.map((column) => column.name),
    )
    const message = `the field was renamed from "${field.renamedFrom}", but the table has neither column${suggestion || '.'}`
    return blocked(comparison, name, message, `If the field is new, run: ${applyCommand(approval)}`, approval)
  }
  const similar = unused.filter((column) => column.kind === kind && !column.isKnownUnused)
  if (similar.length > 0 && !approvals.has(approval)) {
    const message = `the column does not exist, and no field uses "${similar.map((column) => column.name).join('", "')}".`
    const advice = `If the field was renamed, give it renamedFrom. If it is new, run: ${applyCommand(approval)}`
    return blocked(comparison, name, message, advice, approval)
  }
  if (!required || filled !== undefined) return undefined
  const value = constantDefault(field)
  if (value !== undefined) return compareDefault(comparison, field, value)
  const message = `the column does not exist, and the descriptor requires a value in each of the ${rows} rows.`
  return fillDifference(comparison, field, message)
}

/** A column that no field uses. */
const compareUnused = async (
  comparison: Comparison,
  { name, isNotNull, default: value }: CatalogueColumn,
): Promise<Difference> => {
  const { database, resource, current } = comparison
  const approval = `drop:${resource.table}.${name}`
  const { count } = await exampleRows({ database, table: current.name }, (query) => query.whereNotNull(name))
  const drop = `drop it with its ${count} values: ${applyCommand(approval)}`
  if (resource.create && isNotNull && value === null) {
    const message = 'no field uses the column, but it is NOT NULL, so no row could be created.'
    return blocked(comparison, name, message, `Add the field again, or ${drop}`, approval)
  }
  const message = `no field uses the column, so its ${count} values are not served.`
  return { ...blocked(comparison, name, message, `To remove the column, ${drop}`, approval), isBlocking: false }
}

/** A renamed field, in a table that has both its former and its new column. */
const compareBoth = async (
  comparison: Comparison,
  column: CatalogueColumn,
  former: CatalogueColumn,
  approval: string,
): Promise<Difference> => {
  const { database, current } = comparison
  const valuesIn = ({ name }: CatalogueColumn) =>
    rowCount({ database, table: current.name }, (query) => query.whereNotNull(name))
  const [values, formerValues] = [await valuesIn(column), await valuesIn(former)]
  const message = `the field was renamed from "${former.name}", but the table has both columns: "${former.name}" has ${formerValues} values, and "${column.name}" has ${values}.`
  const advice = `If "${former.name}" has the right values, drop the others and rename it: ${applyCommand(approval)}. Otherwise remove renamedFrom.`
  return blocked(comparison, column.name, message, advice, approval)
}

/** Compares the descriptor of a resource with its table. */
export const compareTable = async (comparison: Comparison): Promise<ComparedTable> => {
  const { resource, current, approvals } = comparison
  const shapes = new Map<string, ColumnShape>(shapeOf(current).columns.map((shape) => [shape.name, shape]))
  const differences: Difference[] = []
  const added: Field[] = []
  const compareUsed = async (field: Field, column: CatalogueColumn) => {
    const compared = await compareColumn(comparison, field, column, shapes.get(column.name) as ColumnShape)
    shapes.set(column.name, { ...compared.shape, name: field.name })
    differences.push(...compared.differences)
  }
  for (const field of resource.fields.filter(({ name }) => name !== 'id')) {
    const former = field.renamedFrom === undefined ? undefined : columnOf(current, field.renamedFrom)
    const column = columnOf(current, field.name)
    const rename = `rename:${resource.table}.${former?.name}`
    const drop = `drop:${resource.table}.${field.name}`
    if (column && former && !(approvals.has(drop) && approvals.has(rename))) {
      differences.push(await compareBoth(comparison, column, former, `${drop},${rename}`))
    } else if (column && former) {
      shapes.delete(column.name)
      await compareUsed(field, former)
    } else if (!column && !former) {
      const filled = field.required ? await approvedFill(comparison, field) : undefined
      const difference =
        filled && 'difference' in filled ? filled.difference : await compareMissing(comparison, field, filled?.value)
      if (difference) differences.push(difference)
      // A required column is added with its default in every row.
      else added.push(filled ? { ...field, default: (filled as { value: GivenValue }).value } : field)
    } else {
      if (!column && !approvals.has(rename)) {
        const message = `the field was renamed from "${former?.name}".`
        const advice = `To rename the column, run: ${applyCommand(rename)}`
        differences.push(blocked(comparison, field.name, message, advice, rename))
      }
      await compareUsed(field, (column ?? former) as CatalogueColumn)
    }
  }
  const isRenamed = ({ name }: CatalogueColumn) => shapes.get(name)?.name !== name
  for (const column of unusedColumns(comparison).filter((one) => !isRenamed(one))) {
    if (approvals.has(`drop:${resource.table}.${column.name}`)) shapes.delete(column.name)
    else differences.push(await compareUnused(comparison, column))
  }
  return { differences, shape: { name: resource.table, columns: [...shapes.values()] }, added }
}
