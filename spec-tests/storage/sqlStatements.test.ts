/** SQL files are split into statements with their lines, and those that would end or leave a transaction are found. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type DatabaseName,
  refusedStatements,
  splitSql,
  wordsIn,
} from '../../engine/storage/migration/sqlStatements.js'

const split = (text: string, database: DatabaseName = 'sqlite'): string[] => {
  const statements = splitSql(text, database)
  if (!Array.isArray(statements)) return [`${statements.line}: ${statements.message}`]
  return statements.map(({ sql, line }) => `${line}: ${sql}`)
}

const both = ['sqlite', 'postgres'] as const

/** What a text is split into, on one database or on both. */
const texts: readonly (readonly [
  name: string,
  databases: readonly DatabaseName[],
  text: string,
  expected: string[],
])[] = [
  ['nothing', both, '', []],
  ['comments only', both, '-- a; b\n/* c; d */\n;;\n', []],
  ['two statements on a line', both, 'select 1; select 2', ['1: select 1', '1: select 2']],
  ['a comment before a statement is not its line', both, '-- a\n\n/* b */ select\n1;', ['3: select\n1']],
  [
    'a comment inside a statement',
    both,
    'select 1 -- a; b\n, 2;\nselect 3',
    ['1: select 1 -- a; b\n, 2', '3: select 3'],
  ],
  ['semicolons in texts', both, `select 'it''s; fine';\nselect "a;b"`, [`1: select 'it''s; fine'`, '2: select "a;b"']],
  [
    'a backslash is an ordinary character',
    both,
    String.raw`select '\'; select 2`,
    [String.raw`1: select '\'`, '1: select 2'],
  ],
  ['other quotes of SQLite', ['sqlite'], 'select `a;b`, [c;d]; select 2', ['1: select `a;b`, [c;d]', '1: select 2']],
  [
    'arrays of PostgreSQL',
    ['postgres'],
    `select a[1], '{}'::int[]; select 2`,
    [`1: select a[1], '{}'::int[]`, '1: select 2'],
  ],
  [
    'texts with backslashes',
    ['postgres'],
    String.raw`select E'it\'s; fine'; select 2`,
    [String.raw`1: select E'it\'s; fine'`, '1: select 2'],
  ],
  [
    'texts in dollars',
    ['postgres'],
    `do $$ begin perform 1; end $$;\ndo $a$ x; $$ y; $a$;\nselect $1; select a$b$c`,
    ['1: do $$ begin perform 1; end $$', '2: do $a$ x; $$ y; $a$', '3: select $1', '3: select a$b$c'],
  ],
  ['comments in comments', ['postgres'], '/* a /* b; */ c; */ select 1', ['1: select 1']],
  ['a comment ends at the first mark', ['sqlite'], '/* a /* b; */ select 1; /* open', ['1: select 1']],
  [
    'a trigger has statements',
    ['sqlite'],
    `create trigger t after insert on a begin\n  update a set b = case when c then 1 else 2 end where new.end;\n  delete from d;\nend;\nselect 1`,
    [
      '1: create trigger t after insert on a begin\n  update a set b = case when c then 1 else 2 end where new.end;\n  delete from d;\nend',
      '5: select 1',
    ],
  ],
  [
    'a condition of a trigger has an end',
    ['sqlite'],
    'create temp trigger t after update on a when case old.b when 1 then 2 end begin select 1; end; select 2',
    ['1: create temp trigger t after update on a when case old.b when 1 then 2 end begin select 1; end', '1: select 2'],
  ],
  [
    'a function has statements',
    ['postgres'],
    'create or replace function f() returns int begin atomic select 1; select case when true then 2 end; end; select 3',
    [
      '1: create or replace function f() returns int begin atomic select 1; select case when true then 2 end; end',
      '1: select 3',
    ],
  ],
  [
    'a rule has statements',
    ['postgres'],
    'create rule r as on insert to a do (select 1; select 2); select 3',
    ['1: create rule r as on insert to a do (select 1; select 2)', '1: select 3'],
  ],
  ['a text that is not closed', both, `select 1;\nselect 'a;\n`, [`2: ' is not closed`]],
  ['dollars that are not closed', ['postgres'], 'select 1;\ndo $a$ $$', ['2: $ is not closed']],
  ['a comment that is not closed', ['postgres'], 'select 1;\n\n/* a /* b */', ['3: a comment is not closed']],
]

const test = suite('statements of SQL files')

for (const [name, databases, text, expected] of texts)
  for (const database of databases) test(`${database}: ${name}`, () => assert.equal(split(text, database), expected))

const refused: readonly (readonly [databases: readonly DatabaseName[], statements: readonly string[]])[] = [
  [
    both,
    [
      'begin',
      'BEGIN immediate',
      'start transaction',
      'commit',
      'COMMIT and chain',
      'end',
      'rollback',
      'rollback transaction',
    ],
  ],
  [
    both,
    ['/* a */ commit', 'savepoint a', 'release a', 'rollback to a', '-- a\ncommit', 'vacuum', 'vacuum (full) people'],
  ],
  [['sqlite'], ['pragma foreign_keys = off', `attach 'a' as b`, 'detach b', `vacuum into 'a'`]],
  [
    ['postgres'],
    [
      ...[
        'create index concurrently on a (b)',
        'create unique index concurrently c on a (b)',
        'drop index concurrently c',
      ],
      ...[
        'reindex table concurrently a',
        'reindex database a',
        'alter table a detach partition b concurrently',
        'cluster',
      ],
      ...['abort', `prepare transaction 'a'`, `commit prepared 'a'`, 'create database a', 'alter system set b = 1'],
      ...['discard all', 'copy a from stdin', `set search_path = a`, 'set session authorization a', 'reset all'],
    ],
  ],
]
const allowed: typeof refused = [
  [both, [`insert into a values ('commit')`]],
  [both, ['update "commit" set a = 1', 'select 1 /* commit */', 'analyze']],
  [
    ['postgres'],
    [
      ...['set local search_path = a', 'set constraints all deferred', 'do $$ begin null; end $$', 'cluster a'],
      ...['create index concurrent on a (b)', 'reindex table a', `comment on table a is 'concurrently'`],
    ],
  ],
]

const lineRefused = (sql: string, database: DatabaseName): (number | undefined)[] => {
  const statements = splitSql(`select 1;\n${sql};\nselect 2`, database)
  assert.ok(Array.isArray(statements), sql)
  return refusedStatements(statements, database).map(({ line }) => line)
}

for (const [databases, statements] of refused)
  for (const database of databases)
    for (const sql of statements)
      test(`${database}: ${JSON.stringify(sql)} is refused with its line`, () =>
        assert.equal(lineRefused(sql, database), [sql.startsWith('--') ? 3 : 2]))

for (const [databases, statements] of allowed)
  for (const database of databases)
    for (const sql of statements)
      test(`${database}: ${JSON.stringify(sql)} is allowed`, () => assert.equal(lineRefused(sql, database), []))

test('the words of a file are found in quotes and in code, and not in comments', () => {
  const text = `-- people\nupdate "Tasks" set a = 'notes'; /* teams */ do $$ delete from leave; $$; select x.y-z/w`
  assert.equal(
    [...wordsIn(text, 'postgres')],
    ['update', 'tasks', 'set', 'a', 'notes', 'do', 'delete', 'from', 'leave', 'select', 'x', 'y', 'z', 'w'],
  )
})

test('a large file is split in a single pass', () => {
  const text = `insert into a values ('b;c');\n`.repeat(50_000)
  const statements = splitSql(text, 'postgres')
  assert.ok(Array.isArray(statements))
  assert.is(statements.length, 50_000)
  assert.is(statements.at(-1)?.line, 50_000)
})

test.run()
