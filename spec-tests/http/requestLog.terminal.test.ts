/** The log in a terminal: aligned lines with colours instead of JSON. */
import { spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { plainLine, plainNotice } from '../../engine/process/plainLine.js'
import { freePort } from '../../engine/process/supervise.js'
import { freshUrl } from '../support/database.js'
import { launch } from '../support/process.js'

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

const isScriptInstalled = spawnSync('script', ['--version']).status === 0

/** Starts the service in a pseudo terminal, sends two requests, and resolves with what the terminal shows. */
const inTerminal = async (environment: Record<string, string>): Promise<{ shown: string; ids: string[] }> => {
  const port = String(await freePort('127.0.0.1'))
  const shell = `exec script -qec "$(printf " '%s'" "$0" "$@")" /dev/null`
  const { child, ended, output } = launch(
    { DATABASE_URL: await freshUrl(), LOG_LEVEL: 'info', PORT: port, TERM: 'xterm', ...environment },
    { shell },
  )
  while (!output().includes('Ready at') && child.exitCode === null) await setTimeout(50)
  const sent = [await fetch(`http://127.0.0.1:${port}/api/v1/leave`), await fetch(`http://127.0.0.1:${port}/none`)]
  while (!output().includes('/none') && child.exitCode === null) await setTimeout(50)
  // Ctrl+C, as a person would end it.
  child.stdin?.write('\u0003')
  await ended
  return { shown: output(), ids: sent.map(({ headers }) => headers.get('x-request-id') ?? '') }
}

if (isScriptInstalled) {
  test('a service in a terminal shows aligned, coloured lines with short ids', async () => {
    const { shown, ids } = await inTerminal({})
    assert.match(shown, /^Ready at http/m)
    const [first = '', second = ''] = ids
    for (const [colour, status, id, path] of [
      [32, 200, first, '/api/v1/leave'],
      [33, 404, second, '/none'],
    ] as const) {
      const start = `\\d\\d:\\d\\d:\\d\\d \u001b\\[${colour}m${status}\u001b\\[39m [ .\\d]{6} ms [ .\\d]{1,7} k?B`
      assert.match(shown, new RegExp(`^${start} ${id.slice(0, 8)} GET     ${path}\r$`, 'm'))
    }
    assert.is(first.length, 36)
    assert.not.ok(shown.includes(first))
  })

  test('a terminal with NO_COLOR shows no colours', async () => {
    const { shown } = await inTerminal({ NO_COLOR: '1' })
    assert.match(shown, /^\d\d:\d\d:\d\d 404 .* \/none\r$/m)
    assert.not.ok(shown.includes('\u001b'), JSON.stringify(shown))
  })
}

test.run()
