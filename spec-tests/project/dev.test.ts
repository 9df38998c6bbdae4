/** `npm run dev` on a copy of the project: it serves the last good version while a file has errors. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onEnd } from '../../support/cleanup.js'
import { projectCopy } from '../support/projectCopy.js'

const project = projectCopy()
const token = 'the-write-token-of-dev'
const child = project.start('npm run dev', { PORT: '0', DATABASE_URL: 'sqlite:data/dev.sqlite', API_TOKEN: token })
onEnd(() => void child.kill('SIGTERM'))

let output = ''
let notify = () => {}
child.stdout.on('data', (chunk) => {
  output += chunk
  notify()
})

/** Resolves with the output up to a match of each pattern, which the next call no longer sees. */
const until = async (...patterns: RegExp[]): Promise<string> => {
  while (!patterns.every((pattern) => pattern.test(output))) {
    await new Promise<void>((resolve) => {
      notify = resolve
    })
  }
  const seen = output
  output = ''
  return seen
}
const addressIn = (text: string): string => /Ready at (http:\S+?)\/api/.exec(text)?.[1] ?? ''
const statusOf = async (address: string): Promise<number> => {
  const { status } = await fetch(`${address}/api/v1/leave`, { headers: { connection: 'close' } })
  return status
}

const leave = project.read('resources/leave.ts')
let address = ''
/** The cookie of a session. */
const signIn = async (): Promise<string> => {
  const headers = { origin: address, 'content-type': 'application/x-www-form-urlencoded' }
  const options = { method: 'POST', headers, body: `key=${token}&next=/`, redirect: 'manual' as const }
  const response = await fetch(`${address}/explore/sign-in`, options)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}
const isSignedIn = async (cookie: string): Promise<boolean> =>
  (await (await fetch(`${address}/`, { headers: { cookie } })).text()).includes('Sign out')

const test = suite('dev')

test('the service starts', async () => {
  address = addressIn(await until(/Ready at/))
  assert.is(await statusOf(address), 200)
})

test('with errors in a descriptor and its types, both are printed, and the last good version keeps running', async () => {
  project.write('resources/leave.ts', leave.replace('filter: true', 'filtr: true'))
  const printed = await until(/waiting for a change\./, /The types have errors/)
  assert.match(
    printed,
    /resources\/leave\.ts:9:53: field "employee_id": unknown option "filtr" of integer\(\)\. Did you mean "filter"\?\n.*filtr.*\n +\^\^\^\^\^\n/,
  )
  assert.match(printed, /The last good version keeps running; waiting for a change\.\n/)
  assert.match(
    printed,
    /The types have errors:\nresources\/leave\.ts\(9,53\): error TS2561: .*'filtr'.*Did you mean to write 'filter'\?/,
  )
  assert.not.match(printed, /Ready at/)
  assert.is(await statusOf(address), 200)
})

test('with a syntax error, it is printed, and the last good version keeps running', async () => {
  project.write('resources/leave.ts', leave.replace('fields: {', 'fields {'))
  assert.match(await until(/waiting for a change\./), /resources\/leave\.ts:8:\d+: cannot be loaded: /)
  assert.is(await statusOf(address), 200)
})

test('without the errors, the new version starts, and whoever was signed in still is', async () => {
  const cookie = await signIn()
  assert.ok(await isSignedIn(cookie))
  project.write('resources/leave.ts', leave.replace('A request by an employee for time off.', 'Time off.'))
  address = addressIn(await until(/Ready at/))
  assert.is(await statusOf(address), 200)
  assert.ok(await isSignedIn(cookie))
})

test('an operation in a new folder is served', async () => {
  const source = `import { defineOperation } from 'resource-registry-engine'
export default defineOperation({ method: 'GET', path: '/v1/hello', about: 'Hello.', access: 'public', handle: () => 'hello' })
`
  project.write('operations/hello.ts', source)
  const started = addressIn(await until(/Ready at/))
  assert.is(await (await fetch(`${started}/api/v1/hello`)).json(), 'hello')
})

test.after(() => void child.kill('SIGTERM'))
test.run()
