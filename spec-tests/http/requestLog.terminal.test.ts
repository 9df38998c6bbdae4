import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hasColours, plainLine, plainNotice } from '../../engine/process/plainLine.js'

const test = suite('request log in a terminal')

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const time = new Date(2026, 0, 31, 9, 30).getTime()
const logged = (fields: object) => JSON.stringify({ level: 30, time, pid: 1, msg: 'request', ...fields })
const requestLine = {
  id: '9f1c2d3e-0000-4000-8000-000000000000',
  method: 'GET',
  path: '/api',
  status: 200,
  bytes: 2048,
  duration: 1.5,
}

test('a terminal shows words instead of JSON', () => {
  assert.is(plainNotice('{"level":30,"msg":"Ready at x"}', false), 'Ready at x\n')
  assert.is(plainNotice('{"level":40,"msg":"Too short."}', false), 'Warning: Too short.\n')
  const err = { name: 'Error', message: 'm', stack: 'Error: m\n    at x', cause: { stack: 'Error: deeper' } }
  assert.is(
    plainLine(logged({ level: 50, id: requestLine.id, err, msg: 'a request failed' }), false),
    '09:30:00 ERROR a request failed id="9f1c2d3e"\n  Error: m\n      at x\n  caused by:\n  Error: deeper\n',
  )
})

test('in a terminal, request lines are aligned and have short ids', () => {
  const all = [
    requestLine,
    { ...requestLine, method: 'OPTIONS', bytes: 0, status: 204, duration: 0.042, id: 'short' },
    { ...requestLine, method: 'POST', bytes: 5_000_000, status: 201, duration: 12_345.678, path: '/api/v1/leave' },
    { ...requestLine, reason: 'no Host', trace_id: trace },
  ].map((fields) => plainLine(logged(fields), false))
  assert.equal(all, [
    '09:30:00 200   1.50 ms    2.0 kB 9f1c2d3e GET     /api\n',
    '09:30:00 204   0.04 ms       0 B short    OPTIONS /api\n',
    '09:30:00 201   12.35 s    4.8 MB 9f1c2d3e POST    /api/v1/leave\n',
    `09:30:00 200   1.50 ms    2.0 kB 9f1c2d3e GET     /api reason="no Host" trace_id="${trace}"\n`,
  ])
})

test('in a terminal, the status has the colour of its class', () => {
  const colourOf = (status: number) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
    /^09:30:00 \u001b\[(\d+)m\d+\u001b\[39m {2}/.exec(plainLine(logged({ ...requestLine, status }), true))?.[1]
  assert.equal([200, 201, 304, 404, 422, 500, 503].map(colourOf), ['32', '32', '36', '33', '33', '31', '31'])
  assert.not.ok(plainLine(logged(requestLine), false).includes('\u001b'))
})

test('a path cannot control the terminal', () => {
  const line = plainLine(logged({ ...requestLine, path: '/a\u001b[2Jb\u009b1mc\n' }), false)
  assert.ok(line.endsWith(' /a\ufffd[2Jb\ufffd1mc\ufffd\n'), JSON.stringify(line))
})

for (const [isTerminal, environment, expected] of [
  [true, {}, true],
  [true, { NO_COLOR: '' }, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  [false, {}, false],
  [false, { FORCE_COLOR: '1' }, true],
] as const) {
  test(`colours with ${JSON.stringify(environment)}, terminal ${isTerminal}: ${expected}`, () => {
    assert.is(hasColours(isTerminal, environment), expected)
  })
}

test.run()
