/** Parsing of command lines: values, defaults, errors and help. */
import { throws } from 'node:assert/strict'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Definition,
  flag,
  formatHelp,
  integer,
  type Option,
  optionalText,
  parseCommand,
  text,
  UsageError,
} from '../../support/options.js'

const command = {
  name: 'x',
  about: 'Does x.',
  argument: { name: 'FILE', about: 'the file', required: false },
  options: {
    rows: integer('how many', 10, { max: 1_000 }),
    resource: text('which', 'PATH', 'employees'),
    postgres: flag('elsewhere'),
  },
  example: '--rows 5',
}
const withRequired = { ...command, options: { from: text('where from', 'DATABASE') } }

const test = suite('options')

test('values are parsed, and omitted options have their defaults', () => {
  const defaults = { rows: 10, resource: 'employees', postgres: false }
  assert.equal(parseCommand(command, []), { values: defaults, argument: undefined, more: [] })
  const values = { rows: 5, resource: 'jobs', postgres: true }
  const parsed = parseCommand(command, ['--rows', '5', '--postgres', 'file', '--resource=jobs'])
  assert.equal(parsed, { values, argument: 'file', more: [] })
})

test('more arguments follow the first, and an optional text may be left out', () => {
  const options = { table: optionalText('which table', 'NAME', 'derived from FILE') }
  const several = { ...command, moreArguments: { name: 'FIELD', about: 'its fields' }, options }
  const more = ['a:text!', 'b:number=-1']
  const parsed = parseCommand(several, ['file', 'a:text!', '--table', 'x', 'b:number=-1'])
  assert.equal(parsed, { values: { table: 'x' }, argument: 'file', more })
  assert.equal(parseCommand(several, []), { values: { table: undefined }, argument: undefined, more: [] })
  assert.throws(() => parseCommand(several, ['file', '--', '-b']), /^FIELD is "-b", but it must not begin with "-"\.$/)
  const help = formatHelp(several)
  assert.match(help, /^Usage: npm run x -- \[FILE\] \[FIELD …\] \[options\]\n/)
  assert.match(help, /\n {2}--table NAME {2}which table \(default: derived from FILE\)\n/)
})

test('--help works anywhere before --', () => {
  for (const args of [['--help'], ['-h'], ['--rows', 'x', '--help']]) assert.is(parseCommand(command, args), undefined)
  assert.throws(() => parseCommand(command, ['--', '--help']), /FILE is "--help"/)
})

test('the help names every option with its default', () => {
  assert.is(
    formatHelp(command),
    `Usage: npm run x -- [FILE] [options]

Does x.

  FILE             the file
  --rows N         how many (default: 10)
  --resource PATH  which (default: employees)
  --postgres       elsewhere
  --help           show this help

Example: npm run x -- --rows 5`,
  )
})

const rejected: [args: string[], message: string, command?: Definition<Record<string, Option<unknown>>>][] = [
  [['--row', '5'], 'Unknown option --row. Did you mean --rows?'],
  [['--zzzzzz'], 'Unknown option --zzzzzz. See --help.'],
  [['-x'], 'Unknown option -x. See --help.'],
  [['--rows', '1e3'], '--rows is "1e3", but it must be an integer from 1 to 1000.'],
  [['--rows=0'], '--rows is "0", but it must be an integer from 1 to 1000.'],
  [['--rows=-1'], '--rows is "-1", but it must be an integer from 1 to 1000.'],
  [['--rows', '1001'], '--rows is "1001", but it must be an integer from 1 to 1000.'],
  [['--rows'], '--rows needs a value: an integer from 1 to 1000.'],
  [['--rows', '--postgres'], '--rows needs a value: an integer from 1 to 1000.'],
  [['--postgres=yes'], '--postgres does not accept a value.'],
  [['a', 'b'], 'Unexpected argument "b". See --help.'],
  [['a', 'postgres://me:secret@host/name'], 'Unexpected argument "postgres://host/name". See --help.'],
  [['a', 'me:secret@host/name'], 'Unexpected argument "…". See --help.'],
  [['--rows', 'password=secret'], '--rows is "…", but it must be an integer from 1 to 1000.'],
  [['--', '-a'], 'FILE is "-a", but it must not begin with "-".'],
  [['--__proto__'], 'Unknown option --__proto__. See --help.'],
  [[], '--from is missing. See --help.', withRequired],
  [['--form', 'a'], 'Unknown option --form. Did you mean --from?', withRequired],
]
for (const [args, message, other = command] of rejected) {
  test(`${args.join(' ') || 'nothing'} is rejected`, () => {
    throws(() => parseCommand(other, args), new UsageError(message))
  })
}

test.run()
