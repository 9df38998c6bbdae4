/** Changes of a descriptor whose table has rows, on both databases: what a start does, what it asks for, what it refuses. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  boolean,
  date,
  decimal,
  integer,
  json,
  number,
  text,
  timestamp,
  today,
  uuid,
} from '../../engine/descriptor/index.js'
import { newRow, type Resource, type RowValues, type Value } from '../../engine/descriptor/registry.js'
import { planStorage } from '../../engine/storage/open.js'
import { sampleBody } from '../../support/samples.js'
import { freshUrl, server } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { apply, type Fields, open, refusal, registryOf, servedRows, team, type Version } from '../support/members.js'

/** What happens to one column of the members. */
interface Column {
  /** Its field before; without one, the column is new. */
  readonly before?: Fields[string]
  /** Its name before, if it had another. */
  readonly former?: string
  readonly wasRequired?: boolean
  readonly values?: readonly Value[]
  /** Its field afterwards; without one, no field uses the column. */
  readonly after?: Fields[string]
  readonly isRequired?: boolean
  /** What a start is refused with; a text stands after the name of the column, and before the command for the last approval. */
  readonly refused?: string | RegExp
  /** What is given to `--apply` and refused. */
  readonly wrong?: readonly [approval: string, message: RegExp]
  /** What is then given to `--apply`, without the name of the column. */
  readonly approvals?: readonly string[]
  /** The values afterwards, as clients see them; the same, unless told otherwise. */
  readonly served?: readonly Value[]
  /** The value of a row that is created afterwards; any valid one, unless told otherwise. */
  readonly created?: Value
}

/** What changes besides the columns. */
interface Change extends Pick<Column, 'approvals'> {
  readonly refused?: RegExp
  readonly table?: Partial<Version>
  readonly isEmpty?: boolean
}

const toTeams = { references: 'teams' } as const
const isRequired = true
const wasRequired = true

/** Rows lack a value, which `--apply` gives them. */
const filled = (refused: string, value: string): Partial<Column> => ({
  isRequired,
  refused: `${refused}\\. Correct the rows(?: with SQLite 3\\.44 or newer)?, or give them a value: npm run migrate --`,
  approvals: [`fill=${value}`],
})
/** Rows lack a value, and get the default. */
const defaulted = (refused: string): Partial<Column> => ({
  isRequired,
  refused: `${refused}\\. To give them the default, run: `,
  approvals: ['fill'],
})

type Conversion = [before: Fields[string], values: Value[], after: Fields[string], served?: Value[]]
/** All values convert on approval. */
const converted = (...[before, values, after, served = values]: Conversion): Column => {
  const type = before?.kind === 'text' ? 'text' : '[^;]+'
  const isRescaled = before?.kind === 'decimal' && after?.kind === 'decimal'
  const what = isRescaled ? 'the column has the values of decimal\\(.*\\)' : `the column is of type ${type}`
  const refused = `the field is .*${after?.kind}.*, but ${what}; all ${values.length} values convert\\. To convert them, run: `
  return { before, values, after, served, refused, approvals: ['retype'] }
}
/** The same of kinds that SQLite stores alike, where there is nothing to convert. */
const convertedOnServer = (...[before, values, after, served = values]: Conversion): Column =>
  server ? converted(before, values, after, served) : { before, values, after, served }

/** Some values do not convert, and are named: the first three, if there are more. */
const unconverted = (
  [before, after]: [before: Fields[string], after: Fields[string]],
  values: Value[],
  ids: number[],
  former = '',
): Column => {
  const escaped = (value: Value | undefined) => JSON.stringify(String(value)).replaceAll(/[.+{}()[\]\\]/g, '\\$&')
  // The databases spell powers of ten in different ways.
  const spelt = (id: number) =>
    escaped(values[id - 1])
      .replace(/(\d)e(?=\\)/, '$1\\.?0?e')
      .replace('e-', 'e-0?')
  const named = ids.slice(0, 3).map((id) => `${spelt(id)} \\(id ${id}\\)`)
  const refused = `the field is .*${after?.kind}.*, and ${ids.length} of ${values.length} values do not convert${ids.length > 3 ? ', such as' : ':'} ${named.join(', ')}`
  return { before, values, after, refused: `${refused}\\. Correct them.* make the field ${former}.* again` }
}

/** Many columns at once: each is compared and changed by itself. */
const changes: readonly (readonly [name: string, columns: Readonly<Record<string, Column>>, change?: Change])[] = [
  [
    'a start adds columns, requires, loosens, references and redacts without asking, and leaves what no field uses',
    {
      name: { before: text(), values: ['Ana', 'Bo', 'Cy'], after: text(), isRequired },
      note: { after: text({ filter: true }), created: null },
      status: { after: text({ default: "it's new" }), isRequired, served: Array(3).fill("it's new") },
      cost: { after: decimal({ digits: 8, places: 2, default: '1.5' }), isRequired, served: Array(3).fill('1.50') },
      extra: { after: json({ default: { b: ["it's"] } }), isRequired, served: Array(3).fill({ b: ["it's"] }) },
      fee: {
        before: decimal({ digits: 8, places: 2 }),
        values: ['12.50'],
        after: decimal({ digits: 8, places: 2, redacted: true }),
        served: [],
      },
      rate: {
        before: decimal({ digits: 8, places: 2, redacted: true }),
        values: ['12.50'],
        after: decimal({ digits: 8, places: 2 }),
      },
      remark: { before: text(), wasRequired, values: ['x', 'y', 'z'], after: text(), created: null },
      code: { before: text(), values: ['a', null, null], after: text({ unique: true }) },
      slug: { before: text({ unique: true }), values: ['a', 'b'], after: text(), created: 'a' },
      title: { before: text(), values: ['x', 'x'], after: text({ unique: ['note'] }), created: 'x' },
      kind: { before: text(), values: ['x', 'y'], after: text({ filter: true }) },
      team_id: { before: integer(), values: [1], after: integer({ ...toTeams, filter: true }) },
      any_id: { before: integer(toTeams), values: [1], after: integer(), created: 99 },
      pin: { before: text(), values: ['1234'], after: text({ redacted: true }), served: [] },
      due: { before: date(), values: ['2026-03-01'], after: date({ redacted: true }), served: [] },
      open: { before: text({ redacted: true }), values: ['5678'], after: text() },
      done: { before: boolean(), values: [true, false], after: boolean() },
      gone: { before: number({ filter: true }), values: [7] },
    },
  ],
  ['a start adds a required column to an empty table', { status: { after: text(), isRequired } }, { isEmpty: true }],
  [
    'rows that lack a value get one on approval',
    {
      since: {
        after: text({ managed: today }),
        ...filled('in each of the 2 rows', '2026-01-31'),
        served: ['2026-01-31', '2026-01-31'],
      },
      status: {
        after: text(),
        ...filled('does not exist, and the descriptor requires a value in each of the 2 rows', "It's new, so far"),
        served: ["It's new, so far", "It's new, so far"],
      },
      begun: { after: text({ default: today }), ...defaulted('2 rows'), served: [today(), today()] },
      name: {
        before: text(),
        values: ['Ana', null],
        after: text(),
        ...filled('the descriptor requires a value, but 1 row \\(id 2\\) has none', 'Bo'),
        served: ['Ana', 'Bo'],
      },
      weight: {
        before: number(),
        values: [2, null],
        after: number({ default: 1.5 }),
        ...defaulted('1 row \\(id 2\\) has none'),
        served: [2, 1.5],
      },
      price: {
        before: decimal({ digits: 8, places: 2 }),
        values: ['1.50', null],
        after: decimal({ digits: 8, places: 2, default: '7' }),
        ...defaulted('has none'),
        served: ['1.50', '7.00'],
      },
      cost: {
        after: decimal({ digits: 8, places: 2 }),
        ...filled('2 rows', '02.5'),
        wrong: ['fill=2.505', /column "cost": "2\.505" was given/],
        served: ['2.50', '2.50'],
      },
      data: {
        before: json(),
        values: [{ a: 1 }, null],
        after: json({ default: ["it's"] }),
        ...defaulted('has none'),
        served: [{ a: 1 }, ["it's"]],
      },
      more: {
        before: json(),
        values: [null, 5],
        after: json(),
        ...filled('has none', '"a"'),
        wrong: ['fill={', /column "more": "\{" was given/],
        served: ['a', 5],
      },
      level: {
        before: integer(),
        values: [1, null],
        after: integer(),
        ...filled('has none', '3'),
        wrong: ['fill=1.5', /column "level": "1\.5" was given/],
        served: [1, 3],
      },
      team_id: {
        before: integer(toTeams),
        values: [1, null],
        after: integer(toTeams),
        ...filled('has none', '1'),
        wrong: ['fill=9', /column "team_id": existing rows would get 9, which is not the id/],
        served: [1, 1],
      },
    },
  ],
  [
    'values are converted on approval, where every one converts',
    {
      size: converted(text({ filter: true, unique: true }), ['7', '-12'], integer(), [7, -12]),
      spelt: converted(number(), [7, 0.5, 1e300, -1e-7, 1e15, 0.000001, 0.30000000000000004, 5e-324], text(), [
        ...['7', '0.5', '1e+300', '-1e-7', '1000000000000000', '0.000001', '0.30000000000000004', '5e-324'],
      ]),
      whole: converted(integer(), [7], number()),
      team_id: converted(text(), ['1'], integer(toTeams), [1]),
      at: converted(text(), ['2026-03-01T09:30:00+01:00', '2026-03-01T09:30:00.5Z'], timestamp({ filter: true }), [
        ...['2026-03-01T08:30:00.000Z', '2026-03-01T09:30:00.500Z'],
      ]),
      flag: converted(boolean(), [true], text(), ['true']),
      price: converted(number(), [7, 0.5, -12.25, 1e15, 0], decimal({ digits: 18, places: 2, sort: true }), [
        ...['7.00', '0.50', '-12.25', '1000000000000000.00', '0.00'],
      ]),
      tiny: converted(number(), [1e-7, 0.1, 123456789.12345678], decimal({ digits: 18, places: 8 }), [
        ...['0.00000010', '0.10000000', '123456789.12345678'],
      ]),
      count: converted(integer(), [9007199254740991, -7], decimal({ digits: 18, places: 1 }), [
        ...['9007199254740991.0', '-7.0'],
      ]),
      cost: converted(text({ unique: true }), ['12.5', '-0', '007'], decimal({ digits: 6, places: 2, unique: true }), [
        ...['12.50', '0.00', '7.00'],
      ]),
      weight: converted(
        decimal({ digits: 15, places: 8 }),
        ['0.00000010', '-1.50000000', '1234567.12345678'],
        number({ sort: true }),
        [1e-7, -1.5, 1234567.12345678],
      ),
      pieces: converted(
        decimal({ digits: 17, places: 1 }),
        ['12.0', '-9007199254740991.0'],
        integer({ filter: true }),
        [...[12, -9007199254740991]],
      ),
      shown: converted(decimal({ digits: 8, places: 2 }), ['12.50', '-0.05'], text()),
      finer: converted(
        decimal({ digits: 8, places: 2, filter: true }),
        ['12.50', '-0.05'],
        decimal({ digits: 9, places: 3 }),
        [...['12.500', '-0.050']],
      ),
      coarser: converted(decimal({ digits: 8, places: 2 }), ['12.50', '-0.10'], decimal({ digits: 8, places: 1 }), [
        ...['12.5', '-0.1'],
      ]),
      hidden: {
        ...converted(
          decimal({ digits: 8, places: 2, redacted: true }),
          ['12.50'],
          decimal({ digits: 9, places: 3, redacted: true }),
        ),
        served: [],
      },
      tag: converted(text(), ['0190D8A1-6f2e-7C3A-9b1d-2f4e6a8c0B1D'], uuid({ filter: true }), [
        '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d',
      ]),
      data: converted(text(), ['{ "b": [1,\t2], "a": "x \\" y" }', '"a  b"', ' 7 '], json(), [
        ...[{ b: [1, 2], a: 'x " y' }, 'a  b', 7],
      ]),
      due: convertedOnServer(text({ unique: true }), ['2024-02-29'], date({ unique: true, filter: true })),
      key: convertedOnServer(text({ unique: true }), ['0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'], uuid({ unique: true })),
      spelled: convertedOnServer(uuid({ filter: true }), ['0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'], text()),
      compact: convertedOnServer(text(), ['{"b":[1,2],"a":null}', 'true'], json(), [{ b: [1, 2], a: null }, true]),
      done: convertedOnServer(integer({ filter: true }), [1, 0], boolean({ filter: true }), [true, false]),
      day: convertedOnServer(date(), ['2026-03-01'], text()),
      moment: convertedOnServer(timestamp(), ['2026-03-01T09:30:00.000Z'], text()),
    },
  ],
  [
    'columns are renamed, dropped, added and retargeted on approval',
    {
      type: {
        before: text({ filter: true, unique: true }),
        former: 'kind',
        wasRequired,
        values: ['x', 'y', 'z'],
        after: text({ filter: true, unique: true, renamedFrom: 'kind' }),
        isRequired,
        refused: 'the field was renamed from "kind"\\.',
        approvals: ['rename'],
      },
      to_id: {
        before: integer(toTeams),
        former: 'from_id',
        values: [1],
        after: integer({ ...toTeams, renamedFrom: 'from_id' }),
        refused: '',
        approvals: ['rename'],
      },
      ready: {
        before: text(),
        former: 'done',
        values: ['true', 'false', null],
        after: boolean({ filter: true, renamedFrom: 'done' }),
        isRequired,
        refused: 'renamed from "done"(?:.|\\n)*all 2 values convert(?:.|\\n)*',
        approvals: ['rename', 'retype', 'fill=true'],
        served: [true, false, true],
      },
      note: {
        before: text(),
        wasRequired,
        values: ['x', 'y', 'z'],
        refused: 'no field uses the column, but it is NOT NULL, so no row could be created\\.',
        approvals: ['drop'],
      },
      extra: { before: text({ filter: true, unique: true }), values: ['x'], approvals: ['drop'] },
      more: {
        after: text(),
        refused:
          'the column does not exist, and no field uses "note", "extra"\\. If the field was renamed, give it renamedFrom\\.',
        approvals: ['add'],
      },
      other_id: {
        before: integer(toTeams),
        values: [1],
        after: integer({ references: 'members' }),
        refused: 'the field references members, but the ids in the column are those of "teams", not of "members"\\.',
        approvals: ['retarget'],
      },
    },
    // One command for all but what needs a value.
    { refused: /\n.*--apply (?!.*fill:).*rename:members\.done,retype:members\.ready/ },
  ],
  [
    'values that do not convert are named',
    {
      size: unconverted([text(), integer({ unique: true })], ['7', '007', '25e2'], [2, 3], 'text\\(\\)'),
      spelt: unconverted([text(), number()], ['7', '1.5', '1e3', '1.50', '5', '9007199254740993', '-0'], [3, 4, 6, 7]),
      tiny: unconverted([text(), number()], ['1e-400'], [1]),
      price: {
        ...unconverted([number(), decimal({ digits: 8, places: 2 })], [7, 1.505, 1e-7, 1e300], [2, 3, 4]),
        wrong: ['retype', /column "price": .* 3 of 4 values do not convert/],
      },
      sum: unconverted([number(), decimal({ digits: 8, places: 2 })], [0.3, 0.30000000000000004], [2]),
      count: unconverted([integer(), decimal({ digits: 4, places: 2 })], [99, 100], [2]),
      weight: unconverted(
        [decimal({ digits: 18, places: 2 }), number()],
        ['1.50', '9007199254740993.01', '0.10'],
        [2],
        'decimal\\(\\{ .*places: 2 \\}\\)',
      ),
      coarser: {
        before: decimal({ digits: 8, places: 2 }),
        values: ['1.50', '1.25', '-0.01'],
        after: decimal({ digits: 8, places: 1 }),
        refused:
          'the field is decimal\\(\\{ digits: 8, places: 1 \\}\\), but the column has the values of decimal\\(\\{ .*places: 2 \\}\\), and 2 of 3 values do not convert: "1\\.25" \\(id 2\\), "-0\\.01" \\(id 3\\)',
      },
      tag: unconverted(
        [text(), uuid()],
        ['0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d', '0190d8a16f2e7c3a9b1d2f4e6a8c0b1d', ''],
        [2, 3],
      ),
      data: unconverted([text(), json()], ['{}', '{"a":1,"a":2}', 'plain', 'null'], [2, 3, 4]),
      half: unconverted([number(), integer()], [7, 1.5], [2]),
      due: {
        before: text(),
        values: ['2024-02-29', 'tomorrow', '2026-02-30', '', '2026-03-01T00:00:00Z'],
        after: date(),
        refused:
          /column "due": the field is of kind date, but the column is of type text, and 4 of 5 values do not convert, such as "tomorrow" \(id 2\), "2026-02-30" \(id 3\), "" \(id 4\)\. Correct them.* \(only days such as 2026-03-01 convert\), or make the field text\(\) again/,
        wrong: ['retype', /column "due": .* 4 of 5 values do not convert/],
      },
      at: {
        before: text({ unique: true }),
        values: ['2026-03-01T09:30:00+01:00', '2026-03-01T08:30:00Z'],
        after: timestamp({ unique: true }),
        refused: ', and some of its values, which must be unique, would become equal\\. Correct them',
        wrong: ['retype', /column "at": .* would become equal/],
      },
      done: unconverted([text(), boolean()], ['true', 'yes', '1'], [2, 3]),
      flag: unconverted([integer(), boolean()], [1, 2], [2]),
      day: {
        before: timestamp(),
        values: ['2026-03-01T09:30:00.000Z'],
        after: date(),
        refused: '1 of 1 values do not convert: "2026-03-01.*make the field timestamp\\(\\) again',
      },
    },
  ],
  [
    'values that are not unique, and references to no row, are named',
    {
      name: {
        before: text(),
        values: ['Ana', 'Bo', 'Ana'],
        after: text({ unique: true }),
        refused:
          /table "members": the descriptor says that \(name\) is unique, but .* id 1\. Change the rows(?: with SQLite 3\.44 or newer)?, or remove unique/,
      },
      type: {
        before: text(),
        former: 'kind',
        values: ['x', 'x'],
        after: text({ unique: true, renamedFrom: 'kind' }),
        refused: /\(type\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
        wrong: ['rename', /\(type\) is unique, but one value occurs more than once/],
      },
      title: {
        before: text(),
        values: ['x', 'x'],
        after: text({ unique: ['area'] }),
        refused: /\(area, title\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
      },
      area: { after: text({ default: 'x' }), isRequired },
      team_id: {
        after: integer({ ...toTeams, default: 9 }),
        isRequired,
        refused: 'existing rows would get 9, which is not the id of a row in "teams"\\. Use the id',
      },
      lost_id: {
        before: integer(),
        values: [1, 9],
        after: integer(toTeams),
        refused: 'the field references teams, but 1 row \\(id 2\\) has a value that is not the id of a row in "teams"',
      },
    },
  ],
  [
    'a table that references itself is renamed on approval',
    {
      name: { before: text({ unique: true }), wasRequired, values: ['Ana'], after: text({ unique: true }), isRequired },
      lead_id: { before: integer({ references: 'members' }), values: [1], after: integer({ references: 'members' }) },
    },
    {
      table: { table: 'people', renamedFromTable: 'members' },
      refused: /table "people": the table was renamed from "members"\. .*--apply rename:members/,
      approvals: ['rename:members'],
    },
  ],
  [
    'a table is renamed, with a column that is renamed and converted, on approval',
    {
      name: { before: text({ unique: true }), values: ['Ana'], after: text({ unique: true }) },
      level: {
        before: text(),
        former: 'kind',
        values: ['3'],
        after: integer({ renamedFrom: 'kind' }),
        isRequired,
        approvals: ['rename', 'retype'],
        served: [3],
      },
      note: { after: text() },
    },
    {
      table: { table: 'people', renamedFromTable: 'members' },
      refused:
        /table "people": the table was renamed from "members"(?:.|\n)*--apply rename:members,rename:people\.kind,retype:people\.level$/,
      approvals: ['rename:members'],
    },
  ],
  [
    'a table of another name beside one of similar columns is created on approval, and has no rows',
    { name: { before: text(), values: ['Ana'], after: text(), served: [] }, note: { before: text(), after: text() } },
    {
      table: { table: 'people' },
      refused:
        /table "people": the table does not exist, and no resource uses "members", which has similar columns.*renamedFromTable.*--apply create:people/,
      approvals: ['create:people'],
      isEmpty: true,
    },
  ],
]

const test = suite('changes of descriptors')

for (const [name, columns, change = {}] of changes) {
  test(name, async () => {
    const url = await freshUrl()
    const all = Object.entries(columns).map(([column, one]) => ({ former: column, ...one, name: column }))
    // Afterwards in another order, which changes nothing.
    const [before, after] = [all.filter((one) => one.before), all.filter((one) => one.after).reverse()]
    const old = registryOf({
      fields: Object.fromEntries(before.map((one) => [one.former, one.before])) as Fields,
      required: before.filter((one) => one.wasRequired).map(({ former }) => former),
    })
    const changed = registryOf({
      fields: Object.fromEntries(after.map((one) => [one.name, one.after])) as Fields,
      required: after.filter((one) => one.isRequired).map((one) => one.name),
      ...change.table,
    })
    const [, former] = old as [Resource, Resource]
    const [, resource] = changed as [Resource, Resource]
    const length = Math.max(0, ...before.map(({ values = [] }) => values.length))
    const rowsOf = (entry: (one: (typeof all)[number], n: number) => [string, Value], some: typeof all) =>
      Array.from({ length }, (_, n): RowValues => Object.fromEntries(some.map((one) => entry(one, n))))
    const rows = rowsOf((one, n) => [one.former, one.values?.[n] ?? null], before)
    const first = await open(old, url)
    await first.fill([
      { resource: team, rows: [{ name: 'Red' }] },
      { resource: former, rows },
    ])
    const served = await servedRows(first, former)
    await first.close()

    /** An approval with the name of its column, such as `fill:members.level=3` for `fill=3`. */
    const approvalOf = (one: (typeof all)[number], approval: string): string => {
      const [verb, value] = approval.split('=')
      const column = `${verb}:${change.table?.table ?? 'members'}.${verb === 'rename' ? one.former : one.name}`
      return value === undefined ? column : `${column}=${value}`
    }
    const refusedWith = (one: (typeof all)[number]): RegExp[] => {
      if (typeof one.refused !== 'string') return one.refused ? [one.refused] : []
      const command = one.approvals?.map((approval) => approvalOf(one, approval).replace(/=.*/, '=VALUE')).at(-1)
      return [new RegExp(`column "${one.name}": .*${one.refused}${command ? `.* --apply ${command}$` : ''}`, 'm')]
    }
    const refused = [...all.flatMap(refusedWith), ...(change.refused ? [change.refused] : [])]
    const named = all.flatMap((one) => one.approvals?.map((approval) => approvalOf(one, approval)) ?? [])
    const approvals = [...(change.approvals ?? []), ...named]
    if (refused.length > 0) {
      const message = await refusal(changed, url)
      for (const expected of refused) assert.match(message, expected)
      const wrong = all.flatMap((one) => (one.wrong ? [[approvalOf(one, one.wrong[0]), one.wrong[1]] as const] : []))
      const given = wrong.map(([approval]) => approval)
      const again = given.length > 0 ? await refusal(changed, url, given) : ''
      for (const [, expected] of wrong) assert.match(again, expected)
      // The service as it was still runs: nothing has been altered.
      const unchanged = await open(old, url)
      assert.equal(await servedRows(unchanged, former), served)
      await unchanged.close()
      if (approvals.length === 0) return
    }
    await apply(changed, url, ...approvals)
    assert.equal((await planStorage(changed, url, 5_000)).steps, [], 'a second migration has nothing to do')
    const storage = await open(changed, url)
    const expected = change.isEmpty
      ? []
      : rowsOf((one, n) => [one.name, (one.served ?? one.values)?.[n] ?? null], after)
    assert.equal(await servedRows(storage, resource), expected)
    const created = after.flatMap((one) => (one.created === undefined ? [] : [[one.name, one.created]]))
    // The tables that it references have a row with this id.
    const others = changed.map((one) => (one === resource ? one : { ...one, demo: [{ id: 1 }] }))
    const row = newRow(resource, { ...sampleBody(others, resource, 1), ...Object.fromEntries(created) })
    const creation = await storage.table(resource).write(insertion(row))
    assert.ok('id' in creation, JSON.stringify(creation))
    assert.is((await servedRows(storage, resource)).length, expected.length + 1)
    await storage.close()
  })
}

test.run()
