/** Every change of a descriptor whose table has rows, on both databases: what a start does, what it asks for, what it refuses. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, integer, number, text, timestamp, today } from '../../engine/descriptor/index.js'
import { newRow, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { planStorage } from '../../engine/storage/open.js'
import { publicRow, sampleBody } from '../../support/samples.js'
import { freshUrl, server } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { apply, type Fields, open, refusal, registryOf, servedRows, team, type Version } from '../support/members.js'

interface Outcome {
  /** What the start is refused with; for good, unless approvals follow. */
  readonly refused?: RegExp
  /** What is then given to `--apply`. */
  readonly approvals?: readonly string[]
  /** What is given to `--apply` and refused for the same reason. */
  readonly refusedApprovals?: readonly string[]
  /** The rows afterwards, as clients see them, without their ids; the same values, unless told otherwise. */
  readonly served?: readonly RowValues[]
  /** A create that must succeed afterwards; any valid one, unless told otherwise. */
  readonly created?: RowValues
}

/** A version of the members, with its required fields. */
const of = (fields: Fields, ...required: string[]): Version => ({ fields, required })
const named = of({ name: text() })
const sized = { name: text(), size: text() }
const ana = [{ name: 'Ana' }]
const correct = 'Correct the rows(?: with SQLite 3\\.44 or newer)?, or give them a value: npm run migrate -- --apply'

/** The versions before and after, the rows of members (team 1 exists), and what happens; without that, a start makes the change. */
const changes: [name: string, before: Version, rows: readonly RowValues[], after: Version, outcome?: Outcome][] = [
  [
    'rename, convert and require a field at once, which a row does not allow',
    of({ name: text(), note: text() }),
    [{ name: 'Ana', note: '7' }, { name: 'Bo' }],
    of({ name: text(), points: integer({ renamedFrom: 'note' }) }, 'points'),
    {
      refused:
        /renamed from "note"(?:.|\n)*all 1 values convert(?:.|\n)*--apply fill:members\.points=VALUE(?:.|\n)*--apply rename:members\.note,retype:members\.points$/,
      approvals: ['rename:members.note', 'retype:members.points', 'fill:members.points=3'],
      served: [7, 3].map((points, n) => ({ name: ['Ana', 'Bo'][n] ?? null, points })),
    },
  ],
  [
    'add a required managed field',
    named,
    ana,
    of({ name: text(), since: text({ managed: today }) }, 'since'),
    {
      refused: new RegExp(`in each of the 1 rows\\. ${correct} fill:members\\.since=VALUE$`),
      approvals: ['fill:members.since=2026-01-31'],
      served: [{ name: 'Ana', since: '2026-01-31' }],
    },
  ],
  [
    'add a required reference whose default is no row',
    named,
    ana,
    of({ name: text(), team_id: integer({ references: 'teams', default: 9 }) }, 'team_id'),
    { refused: /column "team_id": existing rows would get 9, which is not the id of a row in "teams"\. Use the id/ },
  ],
  ['add a field', named, ana, of({ name: text(), note: text({ filter: true }) })],
  [
    'add a required field with a default',
    named,
    ana,
    of({ name: text(), status: text({ default: "it's new" }) }, 'status'),
    { served: [{ name: 'Ana', status: "it's new" }] },
  ],
  [
    'add a required field without a default',
    named,
    ana,
    of({ name: text(), status: text() }, 'status'),
    {
      refused: new RegExp(
        `column "status": the column does not exist, and the descriptor requires a value in each of the 1 rows\\. ${correct} fill:members\\.status=VALUE`,
      ),
      approvals: ["fill:members.status=It's new, so far"],
      served: [{ name: 'Ana', status: "It's new, so far" }],
    },
  ],
  [
    'add a required field whose default is computed',
    named,
    ana,
    of({ name: text(), since: text({ default: today }) }, 'since'),
    {
      refused:
        /column "since": .* 1 rows?\. To give them the default, run: npm run migrate -- --apply fill:members\.since$/,
      approvals: ['fill:members.since'],
      served: [{ name: 'Ana', since: today() }],
    },
  ],
  ['add a required field to an empty table', named, [], of({ name: text(), status: text() }, 'status')],
  ['remove a field', of({ name: text(), note: text({ filter: true }) }), [{ name: 'Ana', note: 'x' }], named],
  [
    'drop the column of a removed field',
    of({ name: text(), note: text({ filter: true, unique: true }) }),
    [{ name: 'Ana', note: 'x' }],
    named,
    { approvals: ['drop:members.note'] },
  ],
  [
    'remove a required field',
    of({ name: text(), note: text() }, 'note'),
    [{ name: 'Ana', note: 'x' }],
    named,
    {
      refused:
        /column "note": no field uses the column, but it is NOT NULL, so no row could be created\. .*--apply drop:members\.note/,
      approvals: ['drop:members.note'],
    },
  ],
  [
    'rename a field without saying so',
    of({ name: text(), kind: text() }),
    [{ name: 'Ana', kind: 'x' }],
    of({ name: text(), type: text() }),
    {
      refused:
        /column "type": the column does not exist, and no field uses "kind"\. If the field was renamed, give it renamedFrom\..*--apply add:members\.type/,
      approvals: ['add:members.type'],
    },
  ],
  [
    'rename a field',
    of({ name: text(), kind: text({ filter: true, unique: true }) }, 'kind'),
    [{ name: 'Ana', kind: 'x' }],
    of({ name: text(), type: text({ filter: true, unique: true, renamedFrom: 'kind' }) }, 'type'),
    {
      refused: /column "type": the field was renamed from "kind"\. .*--apply rename:members\.kind/,
      approvals: ['rename:members.kind'],
      served: [{ name: 'Ana', type: 'x' }],
    },
  ],
  [
    'rename a field with a reference',
    of({ a: integer({ references: 'teams' }) }),
    [{ a: 1 }],
    of({ b: integer({ references: 'teams', renamedFrom: 'a' }) }),
    { refused: /rename:members\.a/, approvals: ['rename:members.a'], served: [{ b: 1 }] },
  ],
  [
    'retype from text to integer, where every value converts',
    of({ name: text(), size: text({ filter: true, unique: true }) }),
    [{ name: 'Ana', size: '7' }, { name: 'Bo', size: '-12' }, { name: 'Cy' }],
    of({ name: text(), size: integer() }),
    {
      refused:
        /column "size": the field is of kind integer, but the column is of type text; all 2 values convert\. .*--apply retype:members\.size/,
      approvals: ['retype:members.size'],
      served: [7, -12, null].map((size, n) => ({ name: ['Ana', 'Bo', 'Cy'][n] ?? null, size })),
    },
  ],
  [
    'retype from text to integer, where a value does not convert',
    of(sized),
    ['7', '007', '25e2'].map((size) => ({ name: 'Ana', size })),
    of({ name: text(), size: integer({ unique: true }) }),
    {
      refused:
        /column "size": .* 2 of 3 values do not convert: "007" \(id 2\), "25e2" \(id 3\)\. Correct them.* make the field text\(\) again/,
    },
  ],
  [
    'retype from text to number, where a spelling would be lost',
    of(sized),
    ['7', '1.5', '1e3', '1.50', '5', '9007199254740993', '1e-400', '-0'].map((size) => ({ name: 'Ana', size })),
    of({ name: text(), size: number() }),
    { refused: /5 of 8 values do not convert, such as "1e3" \(id 3\), "1\.50" \(id 4\), "9007199254740993" \(id 6\)/ },
  ],
  [
    'retype to integer and add a reference at once',
    of({ name: text(), team_id: text() }),
    [{ name: 'Ana', team_id: '1' }],
    of({ name: text(), team_id: integer({ references: 'teams' }) }),
    {
      refused: /retype:members\.team_id/,
      approvals: ['retype:members.team_id'],
      served: [{ name: 'Ana', team_id: 1 }],
    },
  ],
  [
    'retype from number to text, where numbers have several spellings',
    of({ size: number() }),
    [7, 0.5, 1e300, -1e-7, 1e15, 0.000001, 0.30000000000000004, 5e-324].map((size) => ({ size })),
    of({ size: text() }),
    {
      refused: /the field is of kind text, but the column is of type/,
      approvals: ['retype:members.size'],
      served: ['7', '0.5', '1e+300', '-1e-7', '1000000000000000', '0.000001', '0.30000000000000004', '5e-324'].map(
        (size) => ({ size }),
      ),
    },
  ],
  [
    'retype from integer to number',
    of({ size: integer() }),
    [{ size: 7 }],
    of({ size: number() }),
    { refused: /the field is of kind number, but the column is of type/, approvals: ['retype:members.size'] },
  ],
  [
    'retype from number to integer, where a value does not convert',
    of({ size: number() }),
    [{ size: 7 }, { size: 1.5 }],
    of({ size: integer() }),
    { refused: /1 of 2 values do not convert: "1\.5" \(id 2\)/ },
  ],
  [
    'retype from text to date, where every value is a day',
    of({ due: text({ unique: true }) }),
    [{ due: '2024-02-29' }, { due: null }],
    of({ due: date({ unique: true, filter: true }) }),
    {
      ...(server && {
        refused: /column "due": the field is of kind date, .* type text; all 1 values convert\. .*retype:members\.due$/,
        approvals: ['retype:members.due'],
      }),
    },
  ],
  [
    'retype from text to date, where values are no days',
    of({ due: text() }),
    ['2024-02-29', 'tomorrow', '2026-02-30', '', '2026-03-01T00:00:00Z'].map((due) => ({ due })),
    of({ due: date() }),
    {
      refused:
        /column "due": the field is of kind date, but the column is of type text, and 4 of 5 values do not convert, such as "tomorrow" \(id 2\), "2026-02-30" \(id 3\), "" \(id 4\)\. Correct them.* \(only days such as 2026-03-01 convert\), or make the field text\(\) again/,
      refusedApprovals: ['retype:members.due'],
    },
  ],
  [
    'retype from text to timestamp, where values have offsets',
    of({ at: text() }),
    [{ at: '2026-03-01T09:30:00+01:00' }, { at: '2026-03-01T09:30:00.5Z' }, { at: null }],
    of({ at: timestamp({ filter: true }) }),
    {
      refused:
        /column "at": the field is of kind timestamp, but the column is of type text; all 2 values convert\. .*--apply retype:members\.at$/,
      approvals: ['retype:members.at'],
      served: [{ at: '2026-03-01T08:30:00.000Z' }, { at: '2026-03-01T09:30:00.500Z' }, { at: null }],
    },
  ],
  [
    'retype a unique text to timestamp, where two values are the same time',
    of({ at: text({ unique: true }) }),
    [{ at: '2026-03-01T09:30:00+01:00' }, { at: '2026-03-01T08:30:00Z' }],
    of({ at: timestamp({ unique: true }) }),
    {
      refused: /column "at": .*, and some of its values, which must be unique, would become equal\. Correct them/,
      refusedApprovals: ['retype:members.at'],
    },
  ],
  [
    'retype from text to boolean, and rename and require it at once',
    of({ done: text() }),
    [{ done: 'true' }, { done: 'false' }, { done: null }],
    of({ ready: boolean({ filter: true, renamedFrom: 'done' }) }, 'ready'),
    {
      refused: /all 2 values convert(?:.|\n)*--apply rename:members\.done,retype:members\.ready$/,
      approvals: ['rename:members.done', 'retype:members.ready', 'fill:members.ready=true'],
      served: [{ ready: true }, { ready: false }, { ready: true }],
    },
  ],
  [
    'retype from text to boolean, where a value is neither true nor false',
    of({ done: text() }),
    [{ done: 'true' }, { done: 'yes' }, { done: '1' }],
    of({ done: boolean() }),
    { refused: /2 of 3 values do not convert: "yes" \(id 2\), "1" \(id 3\)/ },
  ],
  [
    'retype from integer to boolean, where every value is 0 or 1',
    of({ done: integer({ filter: true }) }),
    [{ done: 1 }, { done: 0 }, { done: null }],
    of({ done: boolean({ filter: true }) }),
    {
      ...(server && { refused: /of kind boolean, .*retype:members\.done$/, approvals: ['retype:members.done'] }),
      served: [{ done: true }, { done: false }, { done: null }],
    },
  ],
  [
    'retype from integer to boolean, where a value is 2',
    of({ done: integer() }),
    [{ done: 1 }, { done: 2 }],
    of({ done: boolean() }),
    { refused: /column "done": the field is of kind boolean, .* 1 of 2 values do not convert: "2" \(id 2\)/ },
  ],
  [
    'retype from boolean to text, and from date and timestamp',
    of({ done: boolean(), due: date(), at: timestamp() }),
    [{ done: true, due: '2026-03-01', at: '2026-03-01T09:30:00.000Z' }],
    of({ done: text(), due: text(), at: text() }),
    {
      refused: /retype:members\.done/,
      approvals: server ? ['retype:members.done', 'retype:members.due', 'retype:members.at'] : ['retype:members.done'],
      served: [{ done: 'true', due: '2026-03-01', at: '2026-03-01T09:30:00.000Z' }],
    },
  ],
  [
    'retype from timestamp to date, which loses the time',
    of({ at: timestamp() }),
    [{ at: '2026-03-01T09:30:00.000Z' }],
    of({ at: date() }),
    { refused: /column "at": .* 1 of 1 values do not convert: "2026-03-01.*make the field timestamp\(\) again/ },
  ],
  ['require a field that every row has', named, ana, of({ name: text() }, 'name')],
  [
    'require a field that a row lacks',
    named,
    [...ana, { name: null }],
    of({ name: text() }, 'name'),
    {
      refused: new RegExp(
        `column "name": the descriptor requires a value, but 1 row \\(id 2\\) has none\\. ${correct} fill:members\\.name=VALUE$`,
      ),
      approvals: ['fill:members.name=Bo'],
      served: [...ana, { name: 'Bo' }],
    },
  ],
  [
    'require a field with a default that a row lacks',
    of({ size: number() }),
    [{ size: null }],
    of({ size: number({ default: 1.5 }) }, 'size'),
    {
      refused:
        /1 row \(id 1\) has none\. To give them the default, run: npm run migrate -- --apply fill:members\.size$/,
      approvals: ['fill:members.size'],
      served: [{ size: 1.5 }],
    },
  ],
  [
    'fill with a value of another kind',
    of({ size: integer() }),
    [{ size: null }],
    of({ size: integer() }, 'size'),
    {
      refused: /column "size": (?:the descriptor requires a value|"1\.5" was given)/,
      refusedApprovals: ['fill:members.size=1.5'],
    },
  ],
  [
    'fill a reference with an id that no row has',
    of({ team_id: integer({ references: 'teams' }) }),
    [{ team_id: null }],
    of({ team_id: integer({ references: 'teams' }) }, 'team_id'),
    {
      refused: /column "team_id": (?:the descriptor requires a value|existing rows would get 9, which is not the id)/,
      refusedApprovals: ['fill:members.team_id=9'],
      approvals: ['fill:members.team_id=1'],
      served: [{ team_id: 1 }],
    },
  ],
  [
    'let a reference name another table, where the ids exist in both',
    of({ other_id: integer({ references: 'teams' }) }),
    [{ other_id: 1 }],
    of({ other_id: integer({ references: 'members' }) }),
    {
      refused:
        /column "other_id": the field references members, but the ids in the column are those of "teams", not of "members"\. .*--apply retarget:members\.other_id$/,
      approvals: ['retarget:members.other_id'],
    },
  ],
  [
    'no longer require a field',
    of({ name: text(), note: text() }, 'note'),
    [{ name: 'Ana', note: 'x' }],
    of({ name: text(), note: text() }),
    { created: { name: 'Bo', note: null } },
  ],
  [
    'make a field unique whose values are',
    named,
    [...ana, { name: 'Bo' }, { name: null }, { name: null }],
    of({ name: text({ unique: true }) }),
  ],
  [
    'make a field unique whose values are not',
    named,
    [...ana, { name: 'Bo' }, ...ana],
    of({ name: text({ unique: true }) }),
    {
      refused:
        /table "members": the descriptor says that \(name\) is unique, but .* id 1\. Change the rows(?: with SQLite 3\.44 or newer)?, or remove unique/,
    },
  ],
  ['no longer make a field unique', of({ name: text({ unique: true }) }), ana, named, { created: { name: 'Ana' } }],
  [
    'rename a field and make it unique, where two values are equal',
    of({ kind: text() }),
    [{ kind: 'x' }, { kind: 'x' }],
    of({ type: text({ unique: true, renamedFrom: 'kind' }) }),
    {
      refused: /\(type\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
      refusedApprovals: ['rename:members.kind'],
    },
  ],
  [
    'make a field unique within one that every row gets with the same value',
    named,
    [...ana, ...ana],
    of({ name: text({ unique: ['kind'] }), kind: text({ default: 'x' }) }, 'kind'),
    {
      refused: /\(kind, name\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
      refusedApprovals: ['add:members.kind'],
    },
  ],
  [
    'make a field unique within one that no row has a value of',
    named,
    [...ana, ...ana],
    of({ name: text({ unique: ['kind'] }), kind: text() }),
    { created: { name: 'Ana', kind: null } },
  ],
  ['add a filter', named, ana, of({ name: text({ filter: true }) })],
  [
    'add a reference that every row satisfies',
    of({ team_id: integer() }),
    [{ team_id: 1 }, { team_id: null }],
    of({ team_id: integer({ references: 'teams', filter: true }) }),
  ],
  [
    'add a reference that a row does not satisfy',
    of({ team_id: integer() }),
    [{ team_id: 1 }, { team_id: 9 }],
    of({ team_id: integer({ references: 'teams' }) }),
    {
      refused:
        /column "team_id": the field references teams, but 1 row \(id 2\) has a value that is not the id of a row in "teams"/,
    },
  ],
  [
    'remove a reference',
    of({ team_id: integer({ references: 'teams' }) }),
    [{ team_id: 1 }],
    of({ team_id: integer() }),
    { created: { team_id: 99 } },
  ],
  [
    'redact a text and a date',
    of({ pin: text(), due: date(), done: boolean() }),
    [{ pin: '1234', due: '2026-03-01', done: true }],
    of({ pin: text({ redacted: true }), due: date({ redacted: true }), done: boolean() }),
  ],
  ['no longer redact a field', of({ pin: text({ redacted: true }) }), [{ pin: '1234' }], of({ pin: text() })],
  [
    'reorder fields',
    of({ name: text(), note: text() }),
    [{ name: 'Ana', note: 'x' }],
    of({ note: text(), name: text() }),
  ],
  [
    'rename a table that references itself and another',
    of({ name: text({ unique: true }), lead_id: integer({ references: 'members' }) }, 'name'),
    [{ name: 'Ana', lead_id: 1 }],
    {
      ...of({ name: text({ unique: true }), lead_id: integer({ references: 'members' }) }, 'name'),
      table: 'people',
      renamedFromTable: 'members',
    },
    {
      refused: /table "people": the table was renamed from "members"\. .*--apply rename:members/,
      approvals: ['rename:members'],
    },
  ],
  [
    'rename the table, a field and its kind at once',
    of({ name: text({ unique: true }), kind: text() }),
    [{ name: 'Ana', kind: '3' }],
    {
      ...of({ name: text({ unique: true }), level: integer({ renamedFrom: 'kind' }), note: text() }, 'level'),
      table: 'people',
      renamedFromTable: 'members',
    },
    {
      refused:
        /table "people": the table was renamed from "members"(?:.|\n)*--apply rename:members,rename:people\.kind,retype:people\.level$/,
      approvals: ['rename:members', 'rename:people.kind', 'retype:people.level'],
      served: [{ name: 'Ana', level: 3, note: null }],
    },
  ],
  [
    'rename the table without saying so',
    of({ name: text(), note: text() }),
    [{ name: 'Ana', note: 'x' }],
    { ...of({ name: text(), note: text() }), table: 'people' },
    {
      refused:
        /table "people": the table does not exist, and no resource uses "members", which has similar columns.*renamedFromTable.*--apply create:people/,
      approvals: ['create:people'],
      served: [],
    },
  ],
]

const test = suite('changes of descriptors')

for (const [name, before, rows, after, outcome] of changes) {
  test(name, async () => {
    const url = await freshUrl()
    const [old, changed] = [registryOf(before), registryOf(after)]
    const [, former] = old as [Resource, Resource]
    const [, resource] = changed as [Resource, Resource]
    const first = await open(old, url)
    await first.fill([
      { resource: team, rows: [{ name: 'Red' }] },
      { resource: former, rows },
    ])
    await first.close()
    const asServed = ({ id, ...row }: RowValues) => row
    const { refused, approvals, refusedApprovals, served, created } = outcome || {}

    if (refused) {
      assert.match(await refusal(changed, url), refused)
      if (refusedApprovals) assert.match(await refusal(changed, url, refusedApprovals), refused)
      // The service as it was still runs: nothing has been altered.
      const unchanged = await open(old, url)
      const expected = rows.map((row) => asServed(publicRow(former, row)))
      assert.equal(await servedRows(unchanged, former), expected)
      await unchanged.close()
      if (!approvals) return
    }
    await apply(changed, url, ...(approvals ?? []))
    assert.equal((await planStorage(changed, url, 5_000)).steps, [], 'a second migration has nothing to do')
    const storage = await open(changed, url)
    const expected = served ?? rows.map((row) => asServed(publicRow(resource, row)))
    assert.equal(await servedRows(storage, resource), expected)
    const row = newRow(resource, created ?? sampleBody(changed, resource, 1))
    const creation = await storage.table(resource).write(insertion(row))
    assert.ok('id' in creation, JSON.stringify(creation))
    assert.is((await servedRows(storage, resource)).length, expected.length + 1)
    await storage.close()
  })
}

test.run()
