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

type Field = Fields[string]

/** What else there is to say about the change of one column. */
interface Details {
  readonly wasRequired?: boolean
  readonly isRequired?: boolean
  /** What a start is refused with; a text stands after the name of the column, and before the command for the last approval. */
  readonly refused?: string | RegExp
  /** What is given to `--apply` and refused; a text stands after the name of the column. */
  readonly wrong?: readonly [approval: string, message: string | RegExp]
  /** What is then given to `--apply`, without the name of the column. */
  readonly approvals?: readonly string[]
  /** The value of a row that is created afterwards; any valid one, unless told otherwise. */
  readonly created?: Value
}

/**
 * What happens to one column of the members: its field and values before, its field afterwards, and its values then, as clients see
 * them, which are the same unless told otherwise. Without a field before it is new; without one afterwards, no field uses it.
 */
interface Column extends Details {
  readonly before: Field | undefined
  readonly values: readonly Value[]
  readonly after: Field | undefined
  readonly served: readonly Value[]
}
type Columns = Readonly<Record<string, Column>>

/** What changes besides the columns. */
interface Change extends Pick<Details, 'approvals'> {
  readonly refused?: RegExp
  readonly table?: Partial<Version>
  readonly isEmpty?: boolean
}

const none = undefined
const from = (
  before: Field | undefined,
  values: readonly Value[],
  after: Field | undefined,
  served: readonly Value[] | Details = values,
  details: Details = {},
): Column => ({
  before,
  values,
  after,
  ...('length' in served ? { served, ...details } : { served: values, ...served }),
})
const toTeams = { references: 'teams' } as const
const isRequired = true
const wasRequired = true
const money = { digits: 8, places: 2 } as const
const [coarser, finer] = [{ digits: 8, places: 1 } as const, { digits: 9, places: 3 } as const]
const [wide, fine] = [{ digits: 18, places: 2 } as const, { digits: 15, places: 8 } as const]
const unique = true
const filter = true
const uuidText = '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'
const [day, state, moment] = ['2026-01-31', "It's new, so far", '2026-03-01T09:30:00']
const doubles = [7, 0.5, 1e300, -1e-7, 1e15, 0.000001, 0.30000000000000004, 5e-324]
const lacks = 'the descriptor requires a value'

const formerName = ({ after }: Column) => (after?.options as { renamedFrom?: string } | undefined)?.renamedFrom

/** Rows lack a value, which `--apply` gives them. */
const filled = (refused: string, value: string, wrong?: Details['wrong']): Details => ({
  isRequired,
  refused: `${refused}\\. Correct the rows(?: with SQLite 3\\.44 or newer)?, or give them a value: npm run migrate --`,
  approvals: [`fill=${value}`],
  ...(wrong && { wrong }),
})
/** Rows lack a value, and get the default. */
const defaulted = (refused: string): Details => ({
  isRequired,
  refused: `${refused}\\. To give them the default, run: `,
  approvals: ['fill'],
})

/** A start asks for approvals. */
const asked = (refused: string, ...approvals: string[]): Details => ({ refused, approvals })

type Conversion = readonly [before: Field, values: Value[], after: Field, served?: Value[]]
/** All values convert on approval. */
const converted = ([before, values, after, served]: Conversion): Column => {
  const type = before?.kind === 'text' ? 'text' : '[^;]+'
  const isRescaled = before?.kind === 'decimal' && after?.kind === 'decimal'
  const what = isRescaled ? 'the column has the values of decimal\\(.*\\)' : `the column is of type ${type}`
  const refused = `the field is .*${after?.kind}.*, but ${what}; all ${values.length} values convert\\. To convert them, run: `
  return from(before, values, after, served, asked(refused, 'retype'))
}
/** The same of kinds that SQLite stores alike, where there is nothing to convert. */
const convertedOnServer = (given: Conversion): Column => (server ? converted(given) : from(...given))

type Mistakes = readonly [before: Field, values: Value[], after: Field, ids: number[], former?: string, wrong?: string]
/** Some values do not convert, and are named: the first three, if there are more. */
const unconverted = ([before, values, after, ids, former = '', wrong]: Mistakes): Column => {
  const escaped = (value: Value | undefined) => JSON.stringify(String(value)).replaceAll(/[.+{}()[\]\\]/g, '\\$&')
  // The databases spell powers of ten in different ways.
  const spelt = (id: number) =>
    escaped(values[id - 1])
      .replace(/(\d)e(?=\\)/, '$1\\.?0?e')
      .replace('e-', 'e-0?')
  const named = ids.slice(0, 3).map((id) => `${spelt(id)} \\(id ${id}\\)`)
  const refused = `the field is .*${after?.kind}.*, and ${ids.length} of ${values.length} values do not convert${ids.length > 3 ? ', such as' : ':'} ${named.join(', ')}`
  const details: Details = { refused: `${refused}\\. Correct them.* make the field ${former}.* again` }
  if (!wrong) return from(before, values, after, details)
  const message = `.* ${ids.length} of ${values.length} values do not convert`
  return from(before, values, after, { ...details, wrong: [wrong, message] })
}
/** Columns that are all changed in one way. */
const each = <T>(change: (given: T) => Column, columns: Readonly<Record<string, T>>): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, given]) => [name, change(given)]))

/** Many columns at once: each is compared and changed by itself. */
const changes: readonly (readonly [name: string, columns: Columns, change?: Change])[] = [
  [
    'a start adds columns, requires, loosens, references and redacts without asking, and leaves what no field uses',
    {
      name: from(text(), ['Ana', 'Bo', 'Cy'], text(), { isRequired }),
      note: from(none, [], text({ filter }), { created: null }),
      status: from(none, [], text({ default: "it's new" }), Array(3).fill("it's new"), { isRequired }),
      cost: from(none, [], decimal({ ...money, default: '1.5' }), Array(3).fill('1.50'), { isRequired }),
      extra: from(none, [], json({ default: { b: ["it's"] } }), Array(3).fill({ b: ["it's"] }), { isRequired }),
      fee: from(decimal(money), ['12.50'], decimal({ ...money, redacted: true }), []),
      rate: from(decimal({ ...money, redacted: true }), ['12.50'], decimal(money)),
      remark: from(text(), ['x', 'y', 'z'], text(), { wasRequired, created: null }),
      code: from(text(), ['a', null, null], text({ unique })),
      slug: from(text({ unique }), ['a', 'b'], text(), { created: 'a' }),
      title: from(text(), ['x', 'x'], text({ unique: ['note'] }), { created: 'x' }),
      kind: from(text(), ['x', 'y'], text({ filter })),
      team_id: from(integer(), [1], integer({ ...toTeams, filter })),
      any_id: from(integer(toTeams), [1], integer(), { created: 99 }),
      pin: from(text(), ['1234'], text({ redacted: true }), []),
      due: from(date(), ['2026-03-01'], date({ redacted: true }), []),
      open: from(text({ redacted: true }), ['5678'], text()),
      done: from(boolean(), [true, false], boolean()),
      gone: from(number({ filter }), [7], none),
    },
  ],
  [
    'a start adds a required column to an empty table',
    { status: from(none, [], text(), { isRequired }) },
    { isEmpty: true },
  ],
  [
    'rows that lack a value get one on approval',
    {
      since: from(none, [], text({ managed: today }), [day, day], filled('in each of the 2 rows', day)),
      status: from(
        none,
        [],
        text(),
        [state, state],
        filled(`does not exist, and ${lacks} in each of the 2 rows`, state),
      ),
      begun: from(none, [], text({ default: today }), [today(), today()], defaulted('2 rows')),
      name: from(text(), ['Ana', null], text(), ['Ana', 'Bo'], filled(`${lacks}, but 1 row \\(id 2\\) has none`, 'Bo')),
      weight: from(number(), [2, null], number({ default: 1.5 }), [2, 1.5], defaulted('1 row \\(id 2\\) has none')),
      price: from(
        decimal(money),
        ['1.50', null],
        decimal({ ...money, default: '7' }),
        ['1.50', '7.00'],
        defaulted('none'),
      ),
      cost: from(
        none,
        [],
        decimal(money),
        ['2.50', '2.50'],
        filled('2 rows', '02.5', ['fill=2.505', '"2\\.505" was given']),
      ),
      data: from(json(), [{ a: 1 }, null], json({ default: ["it's"] }), [{ a: 1 }, ["it's"]], defaulted('has none')),
      more: from(json(), [null, 5], json(), ['a', 5], filled('has none', '"a"', ['fill={', '"\\{" was given'])),
      level: from(integer(), [1, null], integer(), [1, 3], filled('has none', '3', ['fill=1.5', '"1\\.5" was given'])),
      team_id: from(
        integer(toTeams),
        [1, null],
        integer(toTeams),
        [1, 1],
        filled('has none', '1', ['fill=9', 'existing rows would get 9, which is not the id']),
      ),
    },
  ],
  [
    'values are converted on approval, where every one converts',
    {
      ...each(converted, {
        size: [text({ filter, unique }), ['7', '-12'], integer(), [7, -12]],
        spelt: [number(), doubles, text(), doubles.map(String)],
        whole: [integer(), [7], number()],
        team_id: [text(), ['1'], integer(toTeams), [1]],
        at: [text(), ['2026-03-01T10:30:00+01:00'], timestamp({ filter }), [`${moment}.000Z`]],
        ended: [text(), [`${moment}.5Z`], timestamp({ filter }), [`${moment}.500Z`]],
        flag: [boolean(), [true], text(), ['true']],
        price: [number(), [7, 0.5, -12.25, 0], decimal({ ...money, sort: true }), ['7.00', '0.50', '-12.25', '0.00']],
        large: [number(), [1e15], decimal({ digits: 18, places: 2 }), ['1000000000000000.00']],
        tiny: [number(), [1e-7, 0.1], decimal({ digits: 18, places: 8 }), ['0.00000010', '0.10000000']],
        exact: [number(), [123456789.12345678], decimal({ digits: 18, places: 8 }), ['123456789.12345678']],
        count: [integer(), [2 ** 53 - 1, -7], decimal({ digits: 18, places: 1 }), ['9007199254740991.0', '-7.0']],
        cost: [text({ unique }), ['12.5', '-0', '007'], decimal({ ...money, unique }), ['12.50', '0.00', '7.00']],
        weight: [decimal(fine), ['0.00000010', '-1.50000000'], number({ sort: true }), [1e-7, -1.5]],
        height: [decimal(fine), ['1234567.12345678'], number(), [1234567.12345678]],
        dozens: [decimal(coarser), ['12.0'], integer(), [12]],
        pieces: [decimal({ digits: 17, places: 1 }), ['-9007199254740991.0'], integer({ filter }), [1 - 2 ** 53]],
        shown: [decimal(money), ['12.50', '-0.05'], text()],
        finer: [decimal({ ...money, filter }), ['12.50', '-0.05'], decimal(finer), ['12.500', '-0.050']],
        coarser: [decimal(money), ['12.50', '-0.10'], decimal(coarser), ['12.5', '-0.1']],
        hidden: [decimal({ ...money, redacted: true }), ['12.50'], decimal({ ...finer, redacted: true }), []],
        tag: [text(), ['0190D8A1-6f2e-7C3A-9b1d-2f4e6a8c0B1D'], uuid({ filter }), [uuidText]],
        data: [text(), ['{ "b": [1,\t2], "a": "\\"" }', '"a  b"', ' 7 '], json(), [{ b: [1, 2], a: '"' }, 'a  b', 7]],
      }),
      ...each(convertedOnServer, {
        due: [text({ unique }), ['2024-02-29'], date({ unique, filter })],
        key: [text({ unique }), [uuidText], uuid({ unique })],
        spelled: [uuid({ filter }), [uuidText], text()],
        compact: [text(), ['{"b":[1,2],"a":null}', 'true'], json(), [{ b: [1, 2], a: null }, true]],
        done: [integer({ filter }), [1, 0], boolean({ filter }), [true, false]],
        day: [date(), ['2026-03-01'], text()],
        moment: [timestamp(), [`${moment}.000Z`], text()],
      }),
    },
  ],
  [
    'columns are renamed, dropped, added and retargeted on approval',
    {
      type: from(text({ filter, unique }), ['x', 'y', 'z'], text({ filter, unique, renamedFrom: 'kind' }), {
        ...{ wasRequired, isRequired },
        ...asked('the field was renamed from "kind"\\.', 'rename'),
      }),
      to_id: from(integer(toTeams), [1], integer({ ...toTeams, renamedFrom: 'from_id' }), asked('', 'rename')),
      ready: from(text(), ['true', 'false', null], boolean({ filter, renamedFrom: 'done' }), [true, false, true], {
        ...asked('renamed from "done"(?:.|\\n)*all 2 values convert(?:.|\\n)*', 'rename', 'retype', 'fill=true'),
        isRequired,
      }),
      note: from(text(), ['x', 'y', 'z'], none, {
        wasRequired,
        ...asked('no field uses the column, but it is NOT NULL, so no row could be created\\.', 'drop'),
      }),
      extra: from(text({ filter, unique }), ['x'], none, { approvals: ['drop'] }),
      more: from(none, [], text(), {
        ...asked('no field uses "note", "extra"\\. If the field was renamed, give it renamedFrom\\.', 'add'),
      }),
      other_id: from(integer(toTeams), [1], integer({ references: 'members' }), {
        ...asked('the field references members, but the ids .* are those of "teams", not of "members"\\.', 'retarget'),
      }),
    },
    // One command for all but what needs a value.
    { refused: /\n.*--apply (?!.*fill:).*rename:members\.done,retype:members\.ready/ },
  ],
  [
    'values that do not convert are named',
    {
      ...each(unconverted, {
        size: [text(), ['7', '007', '25e2'], integer({ unique }), [2, 3], 'text\\(\\)'],
        spelt: [text(), ['7', '1.5', '1e3', '1.50', '5', '9007199254740993', '-0'], number(), [3, 4, 6, 7]],
        tiny: [text(), ['1e-400'], number(), [1]],
        price: [number(), [7, 1.505, 1e-7, 1e300], decimal(money), [2, 3, 4], '', 'retype'],
        sum: [number(), [0.3, 0.30000000000000004], decimal(money), [2]],
        count: [integer(), [99, 100], decimal({ digits: 4, places: 2 }), [2]],
        weight: [
          decimal(wide),
          ['1.50', '9007199254740993.01', '0.10'],
          number(),
          [2],
          'decimal\\(\\{ .*places: 2 \\}\\)',
        ],
        tag: [text(), [uuidText, uuidText.replaceAll('-', ''), ''], uuid(), [2, 3]],
        data: [text(), ['{}', '{"a":1,"a":2}', 'plain', 'null'], json(), [2, 3, 4]],
        half: [number(), [7, 1.5], integer(), [2]],
        done: [text(), ['true', 'yes', '1'], boolean(), [2, 3]],
        flag: [integer(), [1, 2], boolean(), [2]],
      }),
      coarser: from(decimal(money), ['1.50', '1.25', '-0.01'], decimal(coarser), {
        refused:
          'the field is decimal\\(\\{ digits: 8, places: 1 \\}\\), but the column has the values of decimal\\(\\{ .*places: 2 \\}\\), and 2 of 3 values do not convert: "1\\.25" \\(id 2\\), "-0\\.01" \\(id 3\\)',
      }),
      due: from(text(), ['2024-02-29', 'tomorrow', '2026-02-30', '', '2026-03-01T00:00:00Z'], date(), {
        refused:
          'the field is of kind date, but the column is of type text, and 4 of 5 values do not convert, such as "tomorrow" \\(id 2\\), "2026-02-30" \\(id 3\\), "" \\(id 4\\)\\. Correct them.* \\(only days such as 2026-03-01 convert\\), or make the field text\\(\\) again',
        wrong: ['retype', '.* 4 of 5 values do not convert'],
      }),
      at: from(text({ unique }), ['2026-03-01T10:30:00+01:00', `${moment}Z`], timestamp({ unique }), {
        refused: ', and some of its values, which must be unique, would become equal\\. Correct them',
        wrong: ['retype', '.* would become equal'],
      }),
      day: from(timestamp(), [`${moment}.000Z`], date(), {
        refused: '1 of 1 values do not convert: "2026-03-01.*make the field timestamp\\(\\) again',
      }),
    },
  ],
  [
    'values that are not unique, and references to no row, are named',
    {
      name: from(text(), ['Ana', 'Bo', 'Ana'], text({ unique }), {
        refused:
          /table "members": the descriptor says that \(name\) is unique, but .* id 1\. Change the rows(?: with SQLite 3\.44 or newer)?, or remove unique/,
      }),
      type: from(text(), ['x', 'x'], text({ unique, renamedFrom: 'kind' }), {
        refused: /\(type\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
        wrong: ['rename', /\(type\) is unique, but one value occurs more than once/],
      }),
      title: from(text(), ['x', 'x'], text({ unique: ['area'] }), {
        refused: /\(area, title\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
      }),
      area: from(none, [], text({ default: 'x' }), { isRequired }),
      team_id: from(none, [], integer({ ...toTeams, default: 9 }), {
        isRequired,
        refused: 'existing rows would get 9, which is not the id of a row in "teams"\\. Use the id',
      }),
      lost_id: from(integer(), [1, 9], integer(toTeams), {
        refused: 'the field references teams, but 1 row \\(id 2\\) has a value that is not the id of a row in "teams"',
      }),
    },
  ],
  [
    'a table that references itself is renamed on approval',
    {
      name: from(text({ unique }), ['Ana'], text({ unique }), { wasRequired, isRequired }),
      lead_id: from(integer({ references: 'members' }), [1], integer({ references: 'members' })),
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
      name: from(text({ unique }), ['Ana'], text({ unique })),
      level: from(text(), ['3'], integer({ renamedFrom: 'kind' }), [3], {
        isRequired,
        approvals: ['rename', 'retype'],
      }),
      note: from(none, [], text()),
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
    { name: from(text(), ['Ana'], text(), []), note: from(text(), [], text()) },
    {
      table: { table: 'people' },
      refused:
        /table "people": the table does not exist, and no resource uses "members", which has similar columns.*renamedFromTable.*--apply create:people/,
      approvals: ['create:people'],
      isEmpty: true,
    },
  ],
  [
    'a renamedFrom that names nothing is refused with the nearest right name',
    {
      kind: from(text(), ['x'], none),
      type: from(none, [], text({ renamedFrom: 'knid' }), {
        ...asked('renamed from "knid", but the table has neither column\\. Did you mean "kind"\\?', 'add'),
      }),
    },
  ],
  [
    'a renamedFromTable that names nothing is refused with the nearest right name',
    { name: from(text(), ['Ana'], text()) },
    {
      table: { table: 'people', renamedFromTable: 'membres' },
      refused:
        /table "people": the table was renamed from "membres", but neither table exists\. Did you mean "members"\? .*--apply create:people/,
      approvals: ['create:people'],
      isEmpty: true,
    },
  ],
  [
    'a decimal that breaks a rule after it was converted is replaced, and so is a boolean by one of some texts',
    {
      rate: from(text(), ['0.5', '12', null], decimal({ ...money, min: '1' }), ['1.50', '12.00'], {
        refused: /--apply retype:members\.rate,set:members\.rate:0\.50=VALUE$/m,
        approvals: ['retype'],
      }),
      tame: from(boolean(), [true, false, null], text({ oneOf: ['calm', 'wild'] }), ['calm', 'wild'], {
        refused: /--apply retype:members\.tame,set:members\.tame:true=VALUE,set:members\.tame:false=VALUE$/m,
        approvals: ['retype'],
      }),
    },
    { approvals: ['set:members.tame:true=calm', 'set:members.tame:false=wild', 'set:members.rate:0.50=1.5'] },
  ],
]

const test = suite('changes of descriptors')

for (const [name, columns, change = {}] of changes) {
  test(name, async () => {
    const url = await freshUrl()
    const all = Object.entries(columns).map(([column, one]) => ({
      ...one,
      name: column,
      former: formerName(one) ?? column,
    }))
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
    const length = Math.max(0, ...before.map(({ values }) => values.length))
    const rowsOf = (entry: (one: (typeof all)[number], n: number) => [string, Value], some: typeof all) =>
      Array.from({ length }, (_, n): RowValues => Object.fromEntries(some.map((one) => entry(one, n))))
    const rows = rowsOf((one, n) => [one.former, one.values[n] ?? null], before)
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
      const wrong = all.flatMap((one) => (one.wrong ? [{ one, approval: one.wrong[0], message: one.wrong[1] }] : []))
      const given = wrong.map(({ one, approval }) => approvalOf(one, approval))
      const again = given.length > 0 ? await refusal(changed, url, given) : ''
      for (const { one, message } of wrong)
        assert.match(again, typeof message === 'string' ? new RegExp(`column "${one.name}": ${message}`) : message)
      // The service as it was still runs: nothing has been altered.
      const unchanged = await open(old, url)
      assert.equal(await servedRows(unchanged, former), served)
      await unchanged.close()
      if (approvals.length === 0) return
    }
    await apply(changed, url, ...approvals)
    assert.equal((await planStorage(changed, url, 5_000)).steps, [], 'a second migration has nothing to do')
    const storage = await open(changed, url)
    const expected = change.isEmpty ? [] : rowsOf((one, n) => [one.name, one.served[n] ?? null], after)
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
