/** `init`: the projects that it makes, their keys, what their start says, and the commands of the shop's README. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadProduct } from '../../engine/product.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { startProcess } from '../../support/process.js'
import { main } from '../../support/root.js'
import { callCommand } from '../support/callCommand.js'
import { readPage } from '../support/consolePage.js'
import { shellCommandsIn } from '../support/shellBlocks.js'
import { until } from '../support/until.js'

const { path } = temporaryFolder('init')
const folder = join(path, 'Ein Ordner')
mkdirSync(folder)
const init = (...args: string[]) => callCommand('init', args, {}, folder)
const read = (...names: string[]) => readFileSync(join(folder, ...names), 'utf8')

const shop = join(folder, 'shop')
const made = await init('shop')
const key = made.stdout.trim().split('\n').at(-1)?.trim() ?? ''
const readme = read('shop', 'README.md')

/** Runs a line of the README as a shell does, with npm scripts run by this build. */
const runLine = (line: string, variables: Readonly<Record<string, string>>) => {
  const command = line.replace(/^npm (?:run )?(\w+)(?: --)?/, (_, name) => `"$NODE" "$MAIN" ${name}`)
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, NODE: process.execPath, MAIN: main, ...variables }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: shop, encoding: 'utf8', env })
  assert.is(status, 0, `${line}: ${stderr}`)
  return stdout.trim()
}

const test = suite('init')

test('it names the next steps, and prints a key, of which the project has the digest alone', () => {
  assert.equal([made.status, made.stderr], [0, ''])
  assert.match(made.stdout, /^Made the project shop\. Next:\n {2}cd shop\n {2}npm install\n {2}npm start\n\n/)
  assert.match(key, /^[\w-]{43}$/)
  const texts = readdirSync(shop, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name), 'utf8'))
  assert.ok(texts.length > 12)
  assert.not.ok(texts.some((text) => text.includes(key)))
  assert.equal(Object.keys(JSON.parse(read('shop', 'keys.json'))[0]), ['name', 'roles', 'sha256'])
  assert.is(statSync(join(shop, 'keys.json')).mode & 0o077, 0)
  assert.ok(read('shop', '.gitignore').split('\n').includes('keys.json'))
})

test('the name of the folder is that of the project, whatever letters it has', async () => {
  const name = `anna's "shop"`
  const { stdout } = await init(name, '--bare')
  assert.ok(stdout.includes(`cd 'anna'\\''s "shop"'\n`), stdout)
  assert.is((await loadProduct(join(folder, name))).product.name, `Anna's "shop"`)
  assert.is(JSON.parse(read(name, 'package.json')).name, 'anna-s-shop')
  assert.match(read(name, 'README.md'), /^# Anna's "shop"\n/)
})

test('--bare makes one resource, and no key', async () => {
  const { status, stdout } = await init('bare', '--bare')
  assert.equal([status, stdout], [0, 'Made the project bare. Next:\n  cd bare\n  npm install\n  npm start\n'])
  assert.equal(readdirSync(join(folder, 'bare', 'resources')), ['tasks.ts'])
  assert.not.ok(existsSync(join(folder, 'bare', 'keys.json')))
  assert.match((await callCommand('check', [], {}, join(folder, 'bare'))).stdout, /^1 resource and its demo rows/)
})

test('the tutorial begins with it, and removes all that is made for its resource', () => {
  const tutorial = readPage('ten-minutes.md')
  assert.match(tutorial, /^npx resource-registry-engine init shop --bare$/m)
  const [, removed = ''] = /`rm ([^`]+)`/.exec(tutorial) ?? []
  const files = ['resources', 'seeds', 'tests'].flatMap((name) =>
    readdirSync(join(folder, 'bare', name)).map((file) => `${name}/${file}`),
  )
  assert.equal(removed.split(' ').sort(), files.sort())
})

test('a folder with a project, or with one of its files, is left as it is', async () => {
  const before = read('shop', 'keys.json')
  const again = await init('shop')
  const message = 'shop has a project already (package.json); nothing was written.\n'
  assert.equal([again.status, again.stdout, again.stderr], [1, '', message])
  assert.is(read('shop', 'keys.json'), before)
  for (const file of ['keys.json', 'README.md']) {
    mkdirSync(join(folder, file, 'notes'), { recursive: true })
    writeFileSync(join(folder, file, file), '')
    const { status, stderr } = await init(file)
    assert.equal([status, stderr], [1, `${file} has a file ${file}; nothing was written.\n`])
    assert.equal(readdirSync(join(folder, file)).sort(), [file, 'notes'])
  }
})

test('check accepts the shop, and prints its two roles and its hook', async () => {
  const { status, stdout } = await callCommand('check', [], {}, shop)
  assert.is(status, 0, stdout)
  assert.match(stdout, /^4 resources and their demo rows have no errors\./)
  assert.match(stdout, /^orders +manager, clerk, rows with customer_id = claim customer_id +manager, clerk/m)
  assert.match(stdout, /^hooks\/return-stock\.ts runs with update of orders\.$/m)
})

/** What the service says beside the ready line. */
const openMessage = ({ messages }: { messages(): string[] }): string | undefined =>
  messages().findLast((message) => message.startsWith('Open '))

test('every command of the README does what it says', async () => {
  const service = await startProcess({}, { project: shop })
  await until(() => openMessage(service) !== undefined)
  const address = new URL(service.address).host
  assert.is(
    openMessage(service),
    `Open http://${address} and sign in with the key of manager, printed when it was made. To make another: npm run key -- NAME --role manager (or clerk)`,
  )
  const get = async (url: string) => (await fetch(`http://${address}/api/v1/${url}`)).json()
  const stock = async (id: number) => ((await get(`products/${id}`)) as { stock: number }).stock
  const total = async () => ((await get('products?category=Kitchen')) as { meta: { total: number } }).meta.total
  const printed: string[] = []
  let eva = ''
  for (const { command } of shellCommandsIn(readme)) {
    if (/^npm (?:install|start|test|run (?:dev|typecheck))$/.test(command)) continue
    const output = runLine(command.replaceAll('127.0.0.1:3000', address), { KEY: key, EVA: eva })
    if (command.includes(' key -- eva')) {
      eva = output
      // The running service reads the file again.
      const isKnown = () =>
        fetch(`http://${address}/api/v1/orders`, { headers: { authorization: `Bearer ${eva}` } }).then(({ ok }) => ok)
      await until(isKnown)
    }
    if (command.startsWith('curl')) printed.push(output)
    if (command.includes('/products/11')) assert.is(await stock(11), 1)
    if (command.includes('cancelled')) assert.is(await stock(11), 5)
  }
  const [patched, added, cancelled, imported, summary, own] = printed.map((text) => JSON.parse(text))
  assert.is(patched.stock, 20)
  assert.equal(added, { line: 20, amount: '54.00', left: 1 })
  assert.is(cancelled.status, 'cancelled')
  assert.equal([imported.created, imported.updated], [0, 2])
  assert.is(await total(), 4)
  assert.is(summary.data.length, 12)
  assert.is(own.meta.total, 3)
  assert.ok(own.data.every((row: { customer_id: number }) => row.customer_id === 1))
  assert.ok(existsSync(join(shop, 'resources', 'suppliers.ts')))
  await service.end('SIGTERM')
})

test('without its keys the project starts, says how to make one, and takes it while it runs', async () => {
  renameSync(join(shop, 'keys.json'), join(path, 'keys.json'))
  const service = await startProcess({}, { project: shop })
  await until(() => openMessage(service) !== undefined)
  assert.match(
    openMessage(service) ?? '',
    /^Open http:\S+\. Nobody can sign in yet\. To make a key: npm run key -- NAME --role manager \(or clerk\)$/,
  )
  const send = async (secret: string) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const options = { method: 'PATCH', headers, body: '{"stock":7}' }
    return (await fetch(`${service.address}/api/v1/products/1`, options)).status
  }
  assert.is(await send(key), 401)
  const other = runLine('npm run key -- ana --role manager', {})
  await until(async () => (await send(other)) === 200)
  assert.is(await send(key), 401)
  await service.end('SIGTERM')
})

test('a file of keys that the environment names must exist, and comes first', async () => {
  rmSync(join(shop, 'keys.json'))
  const file = join(path, 'keys.json')
  runLine('npm run key -- zoe --role clerk', { API_KEYS_FILE: file })
  assert.not.ok(existsSync(join(shop, 'keys.json')))
  assert.is(JSON.parse(readFileSync(file, 'utf8')).at(-1).name, 'zoe')
  const { status, stderr } = spawnSync(process.execPath, [main, 'start'], {
    cwd: shop,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], API_KEYS_FILE: join(path, 'missing.json'), PORT: '0' },
  })
  assert.is(status, 1)
  assert.match(stderr, /^API_KEYS_FILE is "…", but it must be the path of a file that exists/)
})

test.run()
