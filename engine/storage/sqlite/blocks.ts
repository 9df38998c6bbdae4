/** Blocks of consecutive rows: a table and triggers keep how many rows each has, and the start of a page is computed from them. */

/** A block has at most twice as many rows: the next row splits it into two. */
const blockRows = 2_048
const splitAt = 2 * blockRows + 1

/** The smallest and the largest id that a row can have. */
const minId = -(2n ** 63n)
const maxId = 2n ** 63n - 1n

export type Block = readonly [first: bigint, last: bigint, rows: bigint]

export const idRange = (blocks: readonly Block[]): readonly [from: bigint, to: bigint] => [
  blocks[0]?.[0] ?? minId,
  blocks.at(-1)?.[1] ?? maxId,
]

/** A sample of about this share of the blocks, spread over the table. */
export const sampleBlocks = (blocks: readonly Block[], share: number): readonly Block[] =>
  share >= 1 ? blocks : blocks.filter((_, n) => Math.floor((n + 1) * share) > Math.floor(n * share))

export const blockSql = (table: string, blocks: string, fullIndex: string) => {
  const isInBlock = (id: string) => `first = (select max(first) from ${blocks} where first <= ${id})`
  const middle = `(select id from ${table} where id >= ${blocks}.first order by id limit 1 offset ${blockRows})`
  return {
    table: `create table ${blocks} (first integer primary key, rows integer not null)`,
    /** Finds the block that must be split; almost always empty. */
    fullIndex: `create index ${fullIndex} on ${blocks} (rows) where rows = ${splitAt}`,
    /** Counts the existing rows. The first block begins before every id, so that each id has a block. */
    fill: [
      `insert into ${blocks} values (${minId}, 0)`,
      `insert or replace into ${blocks} select min(id), count(*)
        from (select id, (row_number() over (order by id) - 1) / ${blockRows} as block from ${table}) group by block`,
    ],
    // No ON CONFLICT here: the statement that fires a trigger may have its own, which takes precedence. Where the counts differ
    // from the rows, the middle may be in another block, and nothing is split.
    countRow: `update ${blocks} set rows = rows + 1 where ${isInBlock('new.id')};
      insert into ${blocks} select ${middle}, ${splitAt - blockRows} from ${blocks} where rows = ${splitAt}
        and ${middle} < coalesce((select min(first) from ${blocks} as later where later.first > ${blocks}.first), ${maxId});
      update ${blocks} set rows = ${blockRows}
        where rows = ${splitAt} and exists (select 1 from ${blocks} as later where later.first = ${middle});`,
    uncountRow: `update ${blocks} set rows = rows - 1 where ${isInBlock('old.id')};
      delete from ${blocks} where rows = 0 and first > ${minId} and ${isInBlock('old.id')};`,
    read: `select first, coalesce(lead(first) over (order by first) - 1, ${maxId}) as last, rows from ${blocks} order by first`,
  }
}

export interface TableState {
  /** Changes with every change to the table. */
  readonly version: string
  readonly rows: number
  /** The ids of the first and the last row; null in an empty table. */
  readonly first: number | null
  readonly last: number | null
  /** Whether any row holds so much text that a page may take long to read. */
  readonly hasLongRows: 0 | 1
}

const pastEnd = { first: maxId, skip: 1n }

/** Where the page at an offset begins: at an id, after skipping some rows. */
export const pageStart = (
  { rows, first, last }: TableState,
  offset: bigint,
  readBlocks: () => readonly Block[],
): { first: bigint; skip: bigint } => {
  if (first === null || last === null || offset >= rows) return pastEnd
  if (offset === 0n) return { first: minId, skip: 0n }
  // Where no id is missing, the offset is a key; ids beyond 2^53 are rounded here, so their blocks are used.
  const isExact = Number.isSafeInteger(first) && Number.isSafeInteger(last)
  if (isExact && last - first + 1 === rows) return { first: BigInt(first) + offset, skip: 0n }
  let skip = offset
  for (const [start, , count] of readBlocks()) {
    if (count > skip) return { first: start, skip }
    skip -= count
  }
  return pastEnd
}
