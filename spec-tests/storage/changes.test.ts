/** Every change of a descriptor whose table has rows, on both databases: what a start does, what it asks for, what it refuses. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, integer, number, text, timestamp, today } from '../../engine/descriptor/index.js'
import { newRow, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { migrateStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, server } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { open, refusal, registryOf, servedRows, team, type Version } from '../support/members.js'

interface Change {
  readonly name: string
  readonly before: Version
  /** The rows of members; team 1 exists. */
  readonly rows: readonly RowValues[]
  readonly after: Version
  /** What the start is refused with; undefined if it is not. */
  readonly refused?: RegExp
  /** What is then given to `--apply`. */
  readonly approvals?: readonly string[]
  /** What is given to `--apply` and refused for the same reason. */
  readonly refusedApprovals?: readonly string[]
  /** The rows afterwards, as clients see them, without their ids; undefined if nothing may change. */
  readonly served?: readonly RowValues[]
  /** A create that must succeed afterwards. */
  readonly created?: RowValues
}

const changes: readonly Change[] = [
  {
    name: 'rename, convert and require a field at once, which a row does not allow',
    before: { fields: { name: text(), note: text() } },
    rows: [
      { name: 'Ana', note: '7' },
      { name: 'Bo', note: null },
    ],
    after: { fields: { name: text(), points: integer({ renamedFrom: 'note' }) }, required: ['points'] },
    refused:
      /renamed from "note"(?:.|\n)*all 1 values convert(?:.|\n)*--apply fill:members\.points=VALUE(?:.|\n)*--apply rename:members\.note,retype:members\.points$/,
    approvals: ['rename:members.note', 'retype:members.points', 'fill:members.points=3'],
    served: [
      { name: 'Ana', points: 7 },
      { name: 'Bo', points: 3 },
    ],
    created: { name: 'Cy', points: 1 },
  },
  {
    name: 'add a required managed field',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text(), since: text({ managed: today }) }, required: ['since'] },
    refused:
      /in each of the 1 rows\. Correct the rows(?: with SQLite 3\.44 or newer)?, or give them a value: .*--apply fill:members\.since=VALUE$/,
    approvals: ['fill:members.since=2026-01-31'],
    served: [{ name: 'Ana', since: '2026-01-31' }],
    created: { name: 'Bo' },
  },
  {
    name: 'add a required reference whose default is no row',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text(), team_id: integer({ references: 'teams', default: 9 }) }, required: ['team_id'] },
    refused: /column "team_id": existing rows would get 9, which is not the id of a row in "teams"\. Use the id/,
  },
  {
    name: 'add a field',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text(), note: text({ filter: true }) } },
    served: [{ name: 'Ana', note: null }],
    created: { name: 'Bo', note: 'x' },
  },
  {
    name: 'add a required field with a default',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: 'Bo' }],
    after: { fields: { name: text(), status: text({ default: "it's new" }) }, required: ['status'] },
    served: [
      { name: 'Ana', status: "it's new" },
      { name: 'Bo', status: "it's new" },
    ],
    created: { name: 'Cy', status: 'x' },
  },
  {
    name: 'add a required field without a default',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: 'Bo' }],
    after: { fields: { name: text(), status: text() }, required: ['status'] },
    refused:
      /column "status": the column does not exist, and the descriptor requires a value in each of the 2 rows\. Correct the rows(?: with SQLite 3\.44 or newer)?, or give them a value: npm run migrate -- --apply fill:members\.status=VALUE/,
    approvals: ["fill:members.status=It's new, so far"],
    served: [
      { name: 'Ana', status: "It's new, so far" },
      { name: 'Bo', status: "It's new, so far" },
    ],
    created: { name: 'Cy', status: 'x' },
  },
  {
    name: 'add a required field whose default is computed',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text(), since: text({ default: today }) }, required: ['since'] },
    refused:
      /column "since": .* 1 rows?\. To give them the default, run: npm run migrate -- --apply fill:members\.since$/,
    approvals: ['fill:members.since'],
    served: [{ name: 'Ana', since: today() }],
    created: { name: 'Bo' },
  },
  {
    name: 'add a required field to an empty table',
    before: { fields: { name: text() } },
    rows: [],
    after: { fields: { name: text(), status: text() }, required: ['status'] },
    served: [],
    created: { name: 'Cy', status: 'x' },
  },
  {
    name: 'remove a field',
    before: { fields: { name: text(), note: text({ filter: true }) } },
    rows: [{ name: 'Ana', note: 'x' }],
    after: { fields: { name: text() } },
    served: [{ name: 'Ana' }],
    created: { name: 'Bo' },
  },
  {
    name: 'drop the column of a removed field',
    before: { fields: { name: text(), note: text({ filter: true, unique: true }) } },
    rows: [{ name: 'Ana', note: 'x' }],
    after: { fields: { name: text() } },
    approvals: ['drop:members.note'],
    served: [{ name: 'Ana' }],
    created: { name: 'Bo' },
  },
  {
    name: 'remove a required field',
    before: { fields: { name: text(), note: text() }, required: ['note'] },
    rows: [{ name: 'Ana', note: 'x' }],
    after: { fields: { name: text() } },
    refused:
      /column "note": no field uses the column, but it is NOT NULL, so no row could be created\. .*--apply drop:members\.note/,
    approvals: ['drop:members.note'],
    served: [{ name: 'Ana' }],
    created: { name: 'Bo' },
  },
  {
    name: 'rename a field without saying so',
    before: { fields: { name: text(), kind: text() } },
    rows: [{ name: 'Ana', kind: 'x' }],
    after: { fields: { name: text(), type: text() } },
    refused:
      /column "type": the column does not exist, and no field uses "kind"\. If the field was renamed, give it renamedFrom\..*--apply add:members\.type/,
    approvals: ['add:members.type'],
    served: [{ name: 'Ana', type: null }],
    created: { name: 'Bo', type: 'y' },
  },
  {
    name: 'rename a field',
    before: { fields: { name: text(), kind: text({ filter: true, unique: true }) }, required: ['kind'] },
    rows: [{ name: 'Ana', kind: 'x' }],
    after: {
      fields: { name: text(), type: text({ filter: true, unique: true, renamedFrom: 'kind' }) },
      required: ['type'],
    },
    refused: /column "type": the field was renamed from "kind"\. .*--apply rename:members\.kind/,
    approvals: ['rename:members.kind'],
    served: [{ name: 'Ana', type: 'x' }],
    created: { name: 'Bo', type: 'y' },
  },
  {
    name: 'retype from text to integer, where every value converts',
    before: { fields: { name: text(), size: text() } },
    rows: [
      { name: 'Ana', size: '7' },
      { name: 'Bo', size: '-12' },
      { name: 'Cy', size: null },
    ],
    after: { fields: { name: text(), size: integer({ filter: true }) } },
    refused:
      /column "size": the field is of kind integer, but the column is of type text; all 2 values convert\. .*--apply retype:members\.size/,
    approvals: ['retype:members.size'],
    served: [
      { name: 'Ana', size: 7 },
      { name: 'Bo', size: -12 },
      { name: 'Cy', size: null },
    ],
    created: { name: 'Di', size: 8 },
  },
  {
    name: 'retype from text to integer, where a value does not convert',
    before: { fields: { name: text(), size: text() } },
    rows: [
      { name: 'Ana', size: '7' },
      { name: 'Bo', size: '007' },
    ],
    after: { fields: { name: text(), size: integer() } },
    refused:
      /column "size": .* 1 of 2 values do not convert: "007" \(id 2\)\. Correct them.* make the field text\(\) again/,
  },
  {
    name: 'retype from text to number, where a spelling would be lost',
    before: { fields: { name: text(), size: text() } },
    rows: ['7', '1.5', '1e3', '1.50', '1', '2', '3', '4', '5', '9007199254740993', '1e-400', '-0'].map((size) => ({
      name: 'Ana',
      size,
    })),
    after: { fields: { name: text(), size: number() } },
    refused: /5 of 12 values do not convert, such as "1e3" \(id 3\), "1\.50" \(id 4\), "9007199254740993" \(id 10\)/,
  },
  {
    name: 'retype from text to integer, where a value has an exponent',
    before: { fields: { name: text(), size: text() } },
    rows: [{ name: 'Ana', size: '25e2' }],
    after: { fields: { name: text(), size: integer() } },
    refused: /1 of 1 values do not convert: "25e2"/,
  },
  {
    name: 'retype a field and remove its filter and unique at once',
    before: { fields: { name: text(), size: text({ filter: true, unique: true }) } },
    rows: [{ name: 'Ana', size: '7' }],
    after: { fields: { name: text(), size: integer() } },
    refused: /retype:members\.size/,
    approvals: ['retype:members.size'],
    served: [{ name: 'Ana', size: 7 }],
    created: { name: 'Bo', size: 7 },
  },
  {
    name: 'retype to integer and add a reference at once',
    before: { fields: { name: text(), team_id: text() } },
    rows: [{ name: 'Ana', team_id: '1' }],
    after: { fields: { name: text(), team_id: integer({ references: 'teams' }) } },
    refused: /retype:members\.team_id/,
    approvals: ['retype:members.team_id'],
    served: [{ name: 'Ana', team_id: 1 }],
    created: { name: 'Bo', team_id: 1 },
  },
  {
    name: 'rename a field with a reference, and use its former name for another',
    before: { fields: { a: integer({ references: 'teams' }) } },
    rows: [{ a: 1 }],
    after: { fields: { b: integer({ references: 'teams', renamedFrom: 'a' }) } },
    refused: /rename:members\.a/,
    approvals: ['rename:members.a'],
    served: [{ b: 1 }],
    created: { b: 1 },
  },
  {
    name: 'add a required reference with a default',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text(), team_id: integer({ references: 'teams', default: 1 }) }, required: ['team_id'] },
    served: [{ name: 'Ana', team_id: 1 }],
    created: { name: 'Bo', team_id: 1 },
  },
  {
    name: 'make a field unique among others whose names join to that of another field',
    before: { fields: { a: text(), a_b: text(), b: text() } },
    rows: [{ a: 'x', a_b: 'y', b: 'z' }],
    after: { fields: { a: text(), a_b: text({ unique: true }), b: text({ unique: ['a'] }) } },
    served: [{ a: 'x', a_b: 'y', b: 'z' }],
    created: { a: 'x', a_b: 'w', b: 'v' },
  },
  {
    name: 'rename a table that references itself',
    before: { fields: { name: text(), lead_id: integer({ references: 'members' }) } },
    rows: [{ name: 'Ana', lead_id: 1 }],
    after: {
      fields: { name: text(), lead_id: integer({ references: 'members' }) },
      table: 'people',
      renamedFromTable: 'members',
    },
    refused: /rename:members/,
    approvals: ['rename:members'],
    served: [{ name: 'Ana', lead_id: 1 }],
    created: { name: 'Bo', lead_id: 1 },
  },
  {
    name: 'retype from number to text',
    before: { fields: { name: text(), size: number() } },
    rows: [
      { name: 'Ana', size: 7 },
      { name: 'Bo', size: 0.5 },
    ],
    after: { fields: { name: text(), size: text() } },
    refused: /the field is of kind text, but the column is of type/,
    approvals: ['retype:members.size'],
    served: [
      { name: 'Ana', size: '7' },
      { name: 'Bo', size: '0.5' },
    ],
    created: { name: 'Cy', size: '007' },
  },
  {
    name: 'retype from number to text, where numbers have several spellings',
    before: { fields: { size: number() } },
    rows: [1e300, -1e-7, 1e15, 0.000001, 0.30000000000000004, 5e-324].map((size) => ({ size })),
    after: { fields: { size: text() } },
    refused: /the field is of kind text, but the column is of type/,
    approvals: ['retype:members.size'],
    served: ['1e+300', '-1e-7', '1000000000000000', '0.000001', '0.30000000000000004', '5e-324'].map((size) => ({
      size,
    })),
    created: { size: '1e300' },
  },
  {
    name: 'retype a unique field, where two values would become equal',
    before: { fields: { size: text({ unique: true }) } },
    rows: [{ size: '1' }, { size: '01' }],
    after: { fields: { size: integer({ unique: true }) } },
    refused: /column "size": .* 1 of 2 values do not convert: "01" \(id 2\)/,
  },
  {
    name: 'rename a field and make it unique, where two values are equal',
    before: { fields: { kind: text() } },
    rows: [{ kind: 'x' }, { kind: 'x' }],
    after: { fields: { type: text({ unique: true, renamedFrom: 'kind' }) } },
    refused: /\(type\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
    refusedApprovals: ['rename:members.kind'],
  },
  {
    name: 'make a field unique within one that every row gets with the same value',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: 'Ana' }],
    after: { fields: { name: text({ unique: ['kind'] }), kind: text({ default: 'x' }) }, required: ['kind'] },
    refused: /\(kind, name\) is unique, but one value occurs more than once: 2 rows share that of id 1/,
    refusedApprovals: ['add:members.kind'],
  },
  {
    name: 'make a field unique within one that no row has a value of',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: 'Ana' }],
    after: { fields: { name: text({ unique: ['kind'] }), kind: text() } },
    served: [
      { name: 'Ana', kind: null },
      { name: 'Ana', kind: null },
    ],
    created: { name: 'Ana', kind: null },
  },
  {
    name: 'retype from integer to number',
    before: { fields: { name: text(), size: integer() } },
    rows: [{ name: 'Ana', size: 7 }],
    after: { fields: { name: text(), size: number() } },
    refused: /the field is of kind number, but the column is of type/,
    approvals: ['retype:members.size'],
    served: [{ name: 'Ana', size: 7 }],
    created: { name: 'Cy', size: 1.5 },
  },
  {
    name: 'retype from number to integer, where a value does not convert',
    before: { fields: { name: text(), size: number() } },
    rows: [
      { name: 'Ana', size: 7 },
      { name: 'Bo', size: 1.5 },
    ],
    after: { fields: { name: text(), size: integer() } },
    refused: /1 of 2 values do not convert: "1\.5" \(id 2\)/,
  },
  {
    name: 'retype from text to date, where every value is a day',
    before: { fields: { due: text({ unique: true }) } },
    rows: [{ due: '2024-02-29' }, { due: null }],
    after: { fields: { due: date({ unique: true, filter: true }) } },
    ...(server && {
      refused: /column "due": the field is of kind date, .* type text; all 1 values convert\. .*retype:members\.due$/,
      approvals: ['retype:members.due'],
    }),
    served: [{ due: '2024-02-29' }, { due: null }],
    created: { due: '2026-03-01' },
  },
  {
    name: 'retype from text to date, where values are no days',
    before: { fields: { due: text() } },
    rows: ['2024-02-29', 'tomorrow', '2026-02-30', '', '2026-03-01T00:00:00Z'].map((due) => ({ due })),
    after: { fields: { due: date() } },
    refused:
      /column "due": the field is of kind date, but the column is of type text, and 4 of 5 values do not convert, such as "tomorrow" \(id 2\), "2026-02-30" \(id 3\), "" \(id 4\)\. Correct them.* \(only days such as 2026-03-01 convert\), or make the field text\(\) again/,
    refusedApprovals: ['retype:members.due'],
  },
  {
    name: 'retype from text to timestamp, where values have offsets',
    before: { fields: { at: text() } },
    rows: [{ at: '2026-03-01T09:30:00+01:00' }, { at: '2026-03-01T09:30:00.5Z' }, { at: null }],
    after: { fields: { at: timestamp({ filter: true }) } },
    refused:
      /column "at": the field is of kind timestamp, but the column is of type text; all 2 values convert\. .*--apply retype:members\.at$/,
    approvals: ['retype:members.at'],
    served: [{ at: '2026-03-01T08:30:00.000Z' }, { at: '2026-03-01T09:30:00.500Z' }, { at: null }],
    created: { at: '2026-03-01T09:30:00.000Z' },
  },
  {
    name: 'retype a unique text to timestamp, where two values are the same time',
    before: { fields: { at: text({ unique: true }) } },
    rows: [{ at: '2026-03-01T09:30:00+01:00' }, { at: '2026-03-01T08:30:00Z' }],
    after: { fields: { at: timestamp({ unique: true }) } },
    refused: /column "at": .*, and some of its values, which must be unique, would become equal\. Correct them/,
    refusedApprovals: ['retype:members.at'],
  },
  {
    name: 'retype from text to boolean, and rename and require it at once',
    before: { fields: { done: text() } },
    rows: [{ done: 'true' }, { done: 'false' }, { done: null }],
    after: { fields: { ready: boolean({ filter: true, renamedFrom: 'done' }) }, required: ['ready'] },
    refused: /all 2 values convert(?:.|\n)*--apply rename:members\.done,retype:members\.ready$/,
    approvals: ['rename:members.done', 'retype:members.ready', 'fill:members.ready=true'],
    served: [{ ready: true }, { ready: false }, { ready: true }],
    created: { ready: false },
  },
  {
    name: 'retype from text to boolean, where a value is neither true nor false',
    before: { fields: { done: text() } },
    rows: [{ done: 'true' }, { done: 'yes' }, { done: '1' }],
    after: { fields: { done: boolean() } },
    refused: /2 of 3 values do not convert: "yes" \(id 2\), "1" \(id 3\)/,
  },
  {
    name: 'retype from integer to boolean, where every value is 0 or 1',
    before: { fields: { done: integer({ filter: true }) } },
    rows: [{ done: 1 }, { done: 0 }, { done: null }],
    after: { fields: { done: boolean({ filter: true }) } },
    ...(server && { refused: /of kind boolean, .*retype:members\.done$/, approvals: ['retype:members.done'] }),
    served: [{ done: true }, { done: false }, { done: null }],
    created: { done: true },
  },
  {
    name: 'retype from integer to boolean, where a value is 2',
    before: { fields: { done: integer() } },
    rows: [{ done: 1 }, { done: 2 }],
    after: { fields: { done: boolean() } },
    refused: /column "done": the field is of kind boolean, .* 1 of 2 values do not convert: "2" \(id 2\)/,
  },
  {
    name: 'retype from boolean to text, and from date and timestamp',
    before: { fields: { done: boolean(), due: date(), at: timestamp() } },
    rows: [{ done: true, due: '2026-03-01', at: '2026-03-01T09:30:00.000Z' }],
    after: { fields: { done: text(), due: text(), at: text() } },
    refused: /retype:members\.done/,
    approvals: server ? ['retype:members.done', 'retype:members.due', 'retype:members.at'] : ['retype:members.done'],
    served: [{ done: 'true', due: '2026-03-01', at: '2026-03-01T09:30:00.000Z' }],
    created: { done: 'x', due: 'y', at: 'z' },
  },
  {
    name: 'retype from timestamp to date, which loses the time',
    before: { fields: { at: timestamp() } },
    rows: [{ at: '2026-03-01T09:30:00.000Z' }],
    after: { fields: { at: date() } },
    refused: /column "at": .* 1 of 1 values do not convert: "2026-03-01.*make the field timestamp\(\) again/,
  },
  {
    name: 'redact a date, and a field beside it',
    before: { fields: { due: date(), done: boolean() } },
    rows: [{ due: '2026-03-01', done: true }],
    after: { fields: { due: date({ redacted: true }), done: boolean() } },
    served: [{ due: null, done: true }],
    created: { due: '2026-03-02', done: false },
  },
  {
    name: 'require a field that every row has',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text() }, required: ['name'] },
    served: [{ name: 'Ana' }],
    created: { name: 'Bo' },
  },
  {
    name: 'require a field that a row lacks',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: null }],
    after: { fields: { name: text() }, required: ['name'] },
    refused:
      /column "name": the descriptor requires a value, but 1 row \(id 2\) has none\. Correct the rows(?: with SQLite 3\.44 or newer)?, or give them a value: npm run migrate -- --apply fill:members\.name=VALUE$/,
    approvals: ['fill:members.name=Bo'],
    served: [{ name: 'Ana' }, { name: 'Bo' }],
    created: { name: 'Cy' },
  },
  {
    name: 'require a field with a default that a row lacks',
    before: { fields: { name: text(), size: number() } },
    rows: [{ name: 'Ana', size: null }],
    after: { fields: { name: text(), size: number({ default: 1.5 }) }, required: ['size'] },
    refused: /1 row \(id 1\) has none\. To give them the default, run: npm run migrate -- --apply fill:members\.size$/,
    approvals: ['fill:members.size'],
    served: [{ name: 'Ana', size: 1.5 }],
    created: { name: 'Bo', size: 2 },
  },
  {
    name: 'fill with a value of another kind',
    before: { fields: { name: text(), size: integer() } },
    rows: [{ name: 'Ana', size: null }],
    after: { fields: { name: text(), size: integer() }, required: ['size'] },
    refused: /column "size": (?:the descriptor requires a value|"1\.5" was given)/,
    refusedApprovals: ['fill:members.size=1.5'],
  },
  {
    name: 'fill a reference with an id that no row has',
    before: { fields: { team_id: integer({ references: 'teams' }) } },
    rows: [{ team_id: null }],
    after: { fields: { team_id: integer({ references: 'teams' }) }, required: ['team_id'] },
    refused: /column "team_id": (?:the descriptor requires a value|existing rows would get 9, which is not the id)/,
    refusedApprovals: ['fill:members.team_id=9'],
    approvals: ['fill:members.team_id=1'],
    served: [{ team_id: 1 }],
    created: { team_id: 1 },
  },
  {
    name: 'let a reference name another table, where the ids exist in both',
    before: { fields: { name: text(), other_id: integer({ references: 'teams' }) } },
    rows: [{ name: 'Ana', other_id: 1 }],
    after: { fields: { name: text(), other_id: integer({ references: 'members' }) } },
    refused:
      /column "other_id": the field references members, but the ids in the column are those of "teams", not of "members"\. .*--apply retarget:members\.other_id$/,
    approvals: ['retarget:members.other_id'],
    served: [{ name: 'Ana', other_id: 1 }],
    created: { name: 'Bo', other_id: 1 },
  },
  {
    name: 'no longer require a field',
    before: { fields: { name: text(), note: text() }, required: ['note'] },
    rows: [{ name: 'Ana', note: 'x' }],
    after: { fields: { name: text(), note: text() } },
    served: [{ name: 'Ana', note: 'x' }],
    created: { name: 'Bo', note: null },
  },
  {
    name: 'make a field unique whose values are',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: 'Bo' }, { name: null }, { name: null }],
    after: { fields: { name: text({ unique: true }) } },
    served: [{ name: 'Ana' }, { name: 'Bo' }, { name: null }, { name: null }],
    created: { name: 'Cy' },
  },
  {
    name: 'make a field unique whose values are not',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }, { name: 'Bo' }, { name: 'Ana' }],
    after: { fields: { name: text({ unique: true }) } },
    refused:
      /table "members": the descriptor says that \(name\) is unique, but .* id 1\. Change the rows(?: with SQLite 3\.44 or newer)?, or remove unique/,
  },
  {
    name: 'no longer make a field unique',
    before: { fields: { name: text({ unique: true }) } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text() } },
    served: [{ name: 'Ana' }],
    created: { name: 'Ana' },
  },
  {
    name: 'add a filter',
    before: { fields: { name: text() } },
    rows: [{ name: 'Ana' }],
    after: { fields: { name: text({ filter: true }) } },
    served: [{ name: 'Ana' }],
    created: { name: 'Bo' },
  },
  {
    name: 'add a reference that every row satisfies',
    before: { fields: { name: text(), team_id: integer() } },
    rows: [
      { name: 'Ana', team_id: 1 },
      { name: 'Bo', team_id: null },
    ],
    after: { fields: { name: text(), team_id: integer({ references: 'teams', filter: true }) } },
    served: [
      { name: 'Ana', team_id: 1 },
      { name: 'Bo', team_id: null },
    ],
    created: { name: 'Cy', team_id: 1 },
  },
  {
    name: 'add a reference that a row does not satisfy',
    before: { fields: { name: text(), team_id: integer() } },
    rows: [
      { name: 'Ana', team_id: 1 },
      { name: 'Bo', team_id: 9 },
    ],
    after: { fields: { name: text(), team_id: integer({ references: 'teams' }) } },
    refused:
      /column "team_id": the field references teams, but 1 row \(id 2\) has a value that is not the id of a row in "teams"/,
  },
  {
    name: 'remove a reference',
    before: { fields: { name: text(), team_id: integer({ references: 'teams' }) } },
    rows: [{ name: 'Ana', team_id: 1 }],
    after: { fields: { name: text(), team_id: integer() } },
    served: [{ name: 'Ana', team_id: 1 }],
    created: { name: 'Bo', team_id: 99 },
  },
  {
    name: 'redact a field',
    before: { fields: { name: text(), pin: text() } },
    rows: [{ name: 'Ana', pin: '1234' }],
    after: { fields: { name: text(), pin: text({ redacted: true }) } },
    served: [{ name: 'Ana', pin: null }],
    created: { name: 'Bo', pin: '5' },
  },
  {
    name: 'no longer redact a field',
    before: { fields: { name: text(), pin: text({ redacted: true }) } },
    rows: [{ name: 'Ana', pin: '1234' }],
    after: { fields: { name: text(), pin: text() } },
    served: [{ name: 'Ana', pin: '1234' }],
    created: { name: 'Bo', pin: '5' },
  },
  {
    name: 'reorder fields',
    before: { fields: { name: text(), note: text() } },
    rows: [{ name: 'Ana', note: 'x' }],
    after: { fields: { note: text(), name: text() } },
    served: [{ note: 'x', name: 'Ana' }],
    created: { name: 'Bo', note: 'y' },
  },
  {
    name: 'rename the table',
    before: { fields: { name: text({ unique: true }), team_id: integer({ references: 'teams' }) }, required: ['name'] },
    rows: [{ name: 'Ana', team_id: 1 }],
    after: {
      fields: { name: text({ unique: true }), team_id: integer({ references: 'teams' }) },
      required: ['name'],
      table: 'people',
      renamedFromTable: 'members',
    },
    refused: /table "people": the table was renamed from "members"\. .*--apply rename:members/,
    approvals: ['rename:members'],
    served: [{ name: 'Ana', team_id: 1 }],
    created: { name: 'Bo', team_id: 1 },
  },
  {
    name: 'rename the table, a field and its kind at once',
    before: { fields: { name: text({ unique: true }), kind: text() } },
    rows: [{ name: 'Ana', kind: '3' }],
    after: {
      fields: { name: text({ unique: true }), level: integer({ renamedFrom: 'kind' }), note: text() },
      required: ['level'],
      table: 'people',
      renamedFromTable: 'members',
    },
    refused:
      /table "people": the table was renamed from "members"(?:.|\n)*--apply rename:members,rename:people\.kind,retype:people\.level$/,
    approvals: ['rename:members', 'rename:people.kind', 'retype:people.level'],
    served: [{ name: 'Ana', level: 3, note: null }],
    created: { name: 'Bo', level: 1, note: 'x' },
  },
  {
    name: 'rename the table without saying so',
    before: { fields: { name: text(), note: text() } },
    rows: [{ name: 'Ana', note: 'x' }],
    after: { fields: { name: text(), note: text() }, table: 'people' },
    refused:
      /table "people": the table does not exist, and no resource uses "members", which has similar columns.*renamedFromTable.*--apply create:people/,
    approvals: ['create:people'],
    served: [],
    created: { name: 'Bo', note: 'y' },
  },
  {
    name: 'rename, retype and require at once',
    before: { fields: { name: text(), kind: text() } },
    rows: [{ name: 'Ana', kind: '3' }],
    after: { fields: { name: text(), level: integer({ renamedFrom: 'kind', filter: true }) }, required: ['level'] },
    refused: /the field was renamed from "kind"/,
    approvals: ['rename:members.kind', 'retype:members.level'],
    served: [{ name: 'Ana', level: 3 }],
    created: { name: 'Bo', level: 4 },
  },
]

const test = suite('changes of descriptors')

for (const { name, before, rows, after, refused, approvals = [], refusedApprovals, served, created } of changes) {
  test(name, async () => {
    const url = await freshUrl()
    const [old, changed] = [registryOf(before), registryOf(after)]
    const first = await open(old, url)
    await first.fill([
      { resource: team, rows: [{ name: 'Red' }] },
      { resource: old[1] as Resource, rows },
    ])
    await first.close()

    if (refused) {
      assert.match(await refusal(changed, url), refused)
      if (refusedApprovals) assert.match(await refusal(changed, url, refusedApprovals), refused)
      // The service as it was still runs: nothing has been altered.
      const unchanged = await open(old, url)
      assert.equal(await servedRows(unchanged, old[1] as Resource), rows)
      await unchanged.close()
    }
    if (!served) return assert.ok(refused)

    await migrateStorage(changed, url, { ...storageOptions, waitMs: 5_000, approvals })
    assert.equal((await planStorage(changed, url, 5_000)).steps, [], 'a second migration has nothing to do')
    const storage = await open(changed, url)
    const resource = changed[1] as Resource
    assert.equal(await servedRows(storage, resource), served)
    const creation = await storage.table(resource).write(insertion(newRow(resource, created ?? {}), undefined))
    assert.ok('id' in creation, JSON.stringify(creation))
    assert.is((await servedRows(storage, resource)).length, served.length + 1)
    await storage.close()
  })
}

test.run()
