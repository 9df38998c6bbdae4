/** Kinds and rules of values: what is stored, and the issue of what is not, in bodies and in filters. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { constraintIssue } from '../../engine/contract/issues.js'
import { boolean, date, integer, number, text, timestamp } from '../../engine/descriptor/index.js'
import { compilePattern } from '../../engine/descriptor/pattern.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const fields = {
  state: text({ oneOf: ['Pending', 'Approved'], filter: true }),
  level: integer({ oneOf: [1, 2, 3], filter: true }),
  days: number({ min: 0, max: 366 }),
  count: integer({ min: 2, max: 5 }),
  title: text({ minLength: 2, maxLength: 5 }),
  code: text({ pattern: '[A-Z]{3}-\\d+', maxLength: 20, example: 'ABC-1' }),
  done: boolean({ filter: true }),
  due: date({ min: '2026-01-01', max: '2026-12-31', filter: true }),
  at: timestamp({ min: '2026-01-01T00:00:00Z', filter: true }),
}
/** Every rule and reference of a field that is never returned. */
const secrets = {
  password: text({ pattern: '[a-z]{3,}', maxLength: 12, example: 'abc', redacted: true }),
  word: text({ oneOf: ['alpha', 'omega'], redacted: true }),
  pin: integer({ min: 9_000_000, redacted: true }),
  day: date({ redacted: true }),
  task_id: integer({ references: 'tasks', redacted: true }),
}
const { create, change, get } = await startService({
  registry: [
    resourceIn('tasks', fields, { name: 'Task' }),
    resourceIn('secrets', secrets, { name: 'Secret', update: true }),
  ],
})

/** Values, and what is stored for each. */
const stored: [field: string, values: readonly unknown[], as?: readonly unknown[]][] = [
  ['state', ['Pending', 'Approved', null]],
  ['level', [1, 3]],
  ['days', [0, 366, 0.5]],
  ['count', [2, 5]],
  ['title', ['ab', 'abcde', '😀😀', '😀😀😀😀😀']],
  ['code', ['ABC-1', 'XYZ-0123456789']],
  ['done', [true, false, null]],
  ['due', ['2026-01-01', '2026-12-31']],
  [
    'at',
    ['2026-03-01T09:30:00Z', '2026-03-01t09:30:00.5z', '2026-03-01T09:30:00+02:00', '2028-02-29T23:59:59.999-00:30'],
    ['2026-03-01T09:30:00.000Z', '2026-03-01T09:30:00.500Z', '2026-03-01T07:30:00.000Z', '2028-03-01T00:29:59.999Z'],
  ],
]

/** Values, the type of their issue, and its message, after the name of the field. */
const refused: [field: keyof typeof fields, value: unknown, type: string, msg: string][] = [
  ['state', 'Aproved', 'enum', 'one of "Pending", "Approved"; "Aproved" is not. Did you mean "Approved"?'],
  ['state', 5, 'string_type', 'a string, not a number.'],
  ['level', 4, 'enum', 'one of 1, 2, 3; 4 is not.'],
  ['days', -0.5, 'greater_than_equal', 'at least 0; -0.5 is less.'],
  ['days', 367, 'less_than_equal', 'at most 366; 367 is more.'],
  ['count', 1, 'greater_than_equal', 'at least 2; 1 is less.'],
  ['title', '😀', 'string_too_short', 'at least 2 characters; it has 1.'],
  ['title', '😀'.repeat(6), 'string_too_long', 'at most 5 characters; it has 6.'],
  ['code', 'x'.repeat(900_000), 'string_too_long', 'at most 20 characters; it has 900000.'],
  ['code', 'ABC-1 ', 'string_pattern_mismatch', '[A-Z]{3}-\\d+; "ABC-1 " does not.'],
  ['done', 'true', 'bool_type', 'true or false, not a string.'],
  ['due', 5, 'date_type', 'a date such as "2026-03-01", not a number.'],
  ['due', 'tomorrow', 'date_parsing', 'a date such as "2026-03-01"; "tomorrow" is not.'],
  ['due', '2026-02-29', 'date_parsing', 'a date such as "2026-03-01"; "2026-02-29" is not.'],
  ['due', '2025-12-31', 'greater_than_equal', '2026-01-01 or later; 2025-12-31 is earlier.'],
  ['at', true, 'datetime_type', 'a time such as "2026-03-01T09:30:00Z", not a boolean.'],
  [
    'at',
    '2026-01-01T00:59:59+01:00',
    'greater_than_equal',
    '2026-01-01T00:00:00Z or later; 2026-01-01T00:59:59+01:00 is earlier.',
  ],
]
/** What a message says between the name of the field and what the value must be. */
const verbs: Record<string, string> = {
  string_too_short: 'have',
  string_too_long: 'have',
  string_pattern_mismatch: 'match',
}
/** The key of an issue's context, and the rule that is its value. */
const contexts: Record<string, [key: string, rule: string]> = {
  enum: ['expected', 'oneOf'],
  greater_than_equal: ['ge', 'min'],
  less_than_equal: ['le', 'max'],
  string_too_short: ['min_length', 'minLength'],
  string_too_long: ['max_length', 'maxLength'],
  string_pattern_mismatch: ['pattern', 'pattern'],
}

const test = suite('kinds and rules')

for (const [field, values, as = values] of stored) {
  test(`${field} stores what its rules allow`, async () => {
    for (const [n, value] of values.entries()) {
      const created = await create('tasks', { [field]: value })
      assert.is(created.status, 201, created.text)
      assert.is(created.body[field], as[n])
      assert.equal((await get(`/v1/tasks/${created.body.id}`)).body, created.body)
    }
  })
}

for (const [field, value, type, rest] of refused) {
  test(`${field} refuses ${JSON.stringify(value).slice(0, 40)}: ${type}`, async () => {
    const response = await create('tasks', { [field]: value })
    assert.is(response.status, 422)
    const [key, rule] = contexts[type] ?? []
    const ctx = key && rule && { ctx: { [key]: (fields[field].options as Record<string, unknown>)[rule] } }
    const msg = `${field} must ${verbs[type] ?? 'be'} ${rest}`
    assert.equal(response.body.error.details.issues, [{ type, loc: ['body', field], msg, ...(ctx || {}) }])
  })
}

test('a field that breaks two rules has an issue for each', async () => {
  const row = { code: 'abc-123456789012345678', title: 'x', days: 400, count: 1 }
  const { issues } = (await create('tasks', row)).body.error.details
  assert.equal(
    issues.map(({ type, loc }: { type: string; loc: string[] }) => `${loc[1]} ${type}`),
    [
      'days less_than_equal',
      'count greater_than_equal',
      'title string_too_short',
      'code string_too_long',
      'code string_pattern_mismatch',
    ],
  )
})

test('no message repeats the value of a redacted field', async () => {
  const { id } = (await create('secrets', {})).body
  const wrong = [
    { password: 'Hunter2-SECRET', word: 'alpha-SECRET', pin: 918_273, day: '2026-SECRET', task_id: 918_273 },
    { password: 'SECRET', word: 'omegaSECRET', pin: 918_273.5, day: 'SECRET'.repeat(100) },
  ]
  for (const body of wrong) {
    for (const response of [await create('secrets', body), await change(`secrets/${id}`, body)]) {
      assert.is(response.status, 422)
      const found = new Set(response.body.error.details.issues.map(({ loc }: { loc: string[] }) => loc[1]))
      assert.equal([...found].sort(), Object.keys(body).sort())
      assert.not.match(response.text, /SECRET|918/)
    }
  }
  const refused = { reason: 'invalid input value for enum mood: "calm"' }
  const ofDatabase = constraintIssue(resourceIn('moods', { mood: text({ redacted: true }) }), refused, { mood: 'calm' })
  assert.is(ofDatabase.msg, 'The database refuses the row: invalid input value for enum mood: a value.')
})

test('an update allows null for no redacted field, in the documents and in bodies', async () => {
  const { SecretCreate, SecretUpdate } = (await get('/openapi.json')).body.components.schemas
  const { id } = (await create('secrets', {})).body
  for (const name of Object.keys(secrets)) {
    assert.match(JSON.stringify(SecretCreate.properties[name]), /null/)
    assert.not.match(JSON.stringify(SecretUpdate.properties[name]), /null/)
    const { issues } = (await change(`secrets/${id}`, { [name]: null })).body.error.details
    assert.equal([issues.length, issues[0].type, issues[0].loc], [1, 'redacted', ['body', name]])
  }
})

test('filters find values of every kind, and refuse what no row can have', async () => {
  const row = { state: 'Approved', level: 2, done: true, due: '2026-05-05', at: '2026-05-05T10:00:00Z' }
  const { body } = await create('tasks', row)
  for (const query of [
    'state=Approved&level=2',
    'done=true&due=2026-05-05',
    'at=2026-05-05T12:00:00%2B02:00',
    'at=2026-05-05T12:00:00+02:00',
  ]) {
    const found = (await get(`/v1/tasks?limit=200&${query}`)).body.data
    assert.ok(
      found.some(({ id }: { id: number }) => id === body.id),
      query,
    )
  }
  for (const [name, input, type] of [
    ['state', 'Aproved', 'enum'],
    ['level', '4', 'enum'],
    ['level', 'x', 'int_parsing'],
    ['done', '1', 'bool_parsing'],
    ['due', '2026-02-30', 'date_parsing'],
    ['at', '2026-05-05', 'datetime_parsing'],
  ] as const) {
    const refusal = await get(`/v1/tasks?${name}=${input}`)
    assert.is(refusal.status, 422)
    assert.equal([refusal.body.detail[0].type, refusal.body.detail[0].loc], [type, ['query', name]])
  }
})

test('the documents state the rules', async () => {
  const { TaskCreate } = (await get('/openapi.json')).body.components.schemas
  const { state, level, days, title, code, done, due, at } = TaskCreate.properties
  assert.equal(state.enum, ['Pending', 'Approved', null])
  assert.equal(level.enum, [1, 2, 3, null])
  assert.equal([days.minimum, days.maximum], [0, 366])
  assert.equal([title.minLength, title.maxLength], [2, 5])
  assert.is(code.pattern, '^(?:[A-Z]{3}-\\d+)$')
  assert.equal([done.type, due.format, at.format], [['boolean', 'null'], 'date', 'date-time'])
})

test('a pattern means what it means in JavaScript', () => {
  for (const pattern of ['.', '\\s', '\\S', '[^\\s]', '[.]', '\\w', '\\p{L}', '\\u{1F600}']) {
    const [matches, expected] = [compilePattern(pattern), new RegExp(`^(?:${pattern})$`, 'u')]
    for (const sign of [...Array.from({ length: 0x3100 }, (_, n) => String.fromCharCode(n)), '\ufeff', '😀', '']) {
      assert.is(matches(sign), expected.test(sign), `${pattern} and U+${sign.codePointAt(0)?.toString(16)}`)
    }
  }
})

test.run()
