/** docs/recipes.md: every command is run in the shop that `init` makes, and prints what the page shows. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { temporaryFolder } from '../../support/cleanup.js'
import { type RunningService, startProcess } from '../../support/process.js'
import { main, root } from '../../support/root.js'
import { callCommand } from '../support/callCommand.js'
import { readPage } from '../support/consolePage.js'

const page = readPage('recipes.md')
const { path } = temporaryFolder('recipes')
const shop = join(path, 'shop')
const made = await callCommand('init', ['shop'], {}, path)
const key = made.stdout.trim().split('\n').at(-1)?.trim() ?? ''

/** The services of the page, by the ports that it names. */
const services = new Map<string, RunningService>()

const start = async (port: string, settings: Readonly<Record<string, string>>): Promise<void> => {
  await services.get(port)?.end('SIGTERM')
  services.set(port, await startProcess({ ...settings, PORT: '0' }, { project: shop }))
}

/** Runs a line as a shell does, with npm scripts run by this build and the addresses of the services. */
const run = async (line: string) => {
  let command = line.replace(/\bnpm (?:run )?(\w+)(?: --(?= |$))?/, (_, name) => `"$NODE" "$MAIN" ${name}`)
  for (const [port, { address }] of services) command = command.replaceAll(`http://127.0.0.1:${port}`, address)
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, NODE: process.execPath, MAIN: main, KEY: key }
  const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], { cwd: shop, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [[status], output] = await Promise.all([once(child, 'close'), text(child.stdout)])
  const lines = output.split('\n').filter((one) => !/^(?:Checking|Storing|copy|compare|backup): /.test(one))
  return { status: status as number | null, output: lines.join('\n').trim() }
}

/** "…" stands for any text of a line. */
const pattern = (shown: string): RegExp =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.+')}$`,
  )

const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([whole, language = '', content = ''], n, all) => {
  const before = page.slice(n === 0 ? 0 : page.indexOf(all[n - 1]?.[0] ?? ''), page.indexOf(whole))
  return { language, content, file: [...before.matchAll(/`([\w./-]+\.(?:csv|env|mjs|yml))`/g)].at(-1)?.[1] ?? '' }
})

const test = suite('docs/recipes.md')

test('the shop is started once', async () => {
  await start('3000', {})
  assert.ok(blocks.length > 12)
})

for (const { language, content, file } of blocks) {
  if (language === 'yaml') {
    test(`the steps of ${file} pass`, async () => {
      const commands: string[] = parse(content).jobs.checks.steps.flatMap(({ run: one = [] }) => one)
      // What takes an installation is run by another file.
      const packageTest = readFileSync(join(root, 'spec-tests', 'project', 'package.test.ts'), 'utf8')
      assert.match(packageTest, /await run\(made, 'test'\)[\s\S]*checkTypes\(shop\)/)
      const own = commands.filter((one) => !['npm ci', 'npm run typecheck', 'npm test'].includes(one))
      assert.equal(own, ['npm run check', 'npm run contract -- --check'])
      for (const command of own) assert.is((await run(command)).status, 0, command)
    })
  } else if (language === 'console') {
    for (const part of content.split(/^\$ /m).slice(1)) {
      const end = part.indexOf('\n')
      const [command, shown] = [part.slice(0, end), part.slice(end + 1).trim()]
      test(`$ ${command}`, async () => {
        // The page says to stop the service.
        if (command.startsWith('rm -f data/'))
          for (const port of services.keys()) await services.get(port)?.end('SIGTERM')
        const { status, output } = await run(command)
        assert.match(output, pattern(shown))
        assert.is(status, /^Nothing was stored\. \d+ error/.test(shown) ? 1 : 0)
      })
    }
  } else if (language === 'sh') {
    test(`$ ${content.trim()}`, async () => {
      const [, settingsFile] = /^env \$\(cat (\S+)\) npm start$/m.exec(content) ?? []
      const texts = settingsFile
        ? readFileSync(join(shop, settingsFile), 'utf8').trim().split('\n')
        : content.split(' ')
      const settings = texts.filter((one) => one.includes('=')).map((one) => one.split('=') as [string, string])
      assert.ok(settings.length > 2)
      const { PORT = '', ...others } = Object.fromEntries(settings)
      await start(PORT, others)
    })
  } else {
    test(`the file ${file}`, () => {
      mkdirSync(join(shop, 'data'), { recursive: true })
      writeFileSync(join(shop, file), content)
    })
  }
}

test('the services stop', async () => {
  for (const service of services.values()) assert.is(await service.end('SIGTERM'), 0)
})

test.run()
