/** README.md and docs/commands.md: every command is run, and the tables and pictures show the registry as it is. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commands } from '../../cli/commands.js'
import { standaloneDiagram } from '../../cli/diagram/standalone.js'
import { loadRegistry } from '../../engine/descriptor/load.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { spawnChild } from '../../support/cleanup.js'
import { root } from '../../support/root.js'
import { projectCopy } from '../support/projectCopy.js'
import { inlineCommandsIn, shellCommandsIn } from '../support/shellBlocks.js'
import { example } from './example.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const readme = read('README.md')
const shown = shellCommandsIn(readme)
const page = read('docs/commands.md')
/** The commands that the pages name, and all of the package: `init` is run where the package is. */
const named = [
  ...new Set([
    ...inlineCommandsIn(readme),
    ...inlineCommandsIn(page),
    ...Object.keys(commands)
      .filter((name) => !['init', 'start', 'test'].includes(name))
      .map((name) => `npm run ${name}`),
  ]),
]

const project = projectCopy({ isDeployed: true })
copyFileSync(join(root, 'package-lock.json'), join(project.path, 'package-lock.json'))

/** The service of the copy, as the last `npm start` has started it. */
let service = { address: '', stop: async (): Promise<number | null> => 0 }
let firstMessages = ''

const start = async (environment: Record<string, string>): Promise<void> => {
  await service.stop()
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: '0', LOG_LEVEL: 'warn', ...environment }
  const child = spawnChild(process.execPath, ['scripts/run.mjs', 'start'], { cwd: project.path, env }, 'SIGTERM')
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk
      if (output.includes('Ready at')) resolve()
    })
    child.once('exit', () => reject(new Error(output)))
  })
  const messages = output
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
  const address = /Ready at http:\/\/(\S+)\/api /.exec(messages.join('\n'))?.[1] ?? ''
  firstMessages ||= messages.join('\n').replaceAll(address, '127.0.0.1:3000')
  service = {
    address,
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

const today = (): string => new Date().toISOString().slice(0, 10)

/** Compares a response with the one that is shown; there, "…" stands for more properties. */
const assertShown = (actual: string, expected: string): void => {
  if (!expected.startsWith('{')) {
    assert.is(actual.trim().replaceAll('\r', ''), expected)
    return
  }
  const isPart = expected.includes('…')
  const wanted: unknown = JSON.parse(expected.replaceAll(/,\s*…/g, ''), (key, value) =>
    // The day on which the page was written.
    key === 'applied_on' ? today() : value,
  )
  const given: unknown = JSON.parse(actual)
  assert.equal(isPart ? partOf(given, wanted) : given, wanted)
}

/** A value with only the properties that the other one has. */
const partOf = (value: unknown, like: unknown): unknown => {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((item, n) => partOf(item, like[n]))
  if (typeof value !== 'object' || typeof like !== 'object' || value === null || like === null) return value
  const given = Object.entries(value).filter(([key]) => key in like)
  return Object.fromEntries(given.map(([key, one]) => [key, partOf(one, (like as Record<string, unknown>)[key])]))
}

/** The block of the package, whose lines .ci/run runs as they are, in an empty folder with the package. */
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block.trim().split('\n'))
const ofPackage = blocks.findIndex((lines) => lines.some((line) => line.startsWith('npx ')))

/** Commands that take minutes or do not end, and those that another file runs. */
const elsewhere: Record<string, { file: string; as: string }> = {
  ...Object.fromEntries(
    (blocks[ofPackage] ?? []).map((line) => [line, { file: '.ci/run', as: `readme_block ${ofPackage + 1}` }]),
  ),
  'npm ci && npm test': { file: '.ci/run', as: 'npm test -- --all' },
  'npm pack': { file: 'spec-tests/project/package.test.ts', as: "execFileSync('npm', ['pack'" },
  'npm pack --pack-destination ..': { file: '.ci/run', as: '\n  npm pack --pack-destination ..\n' },
  'npm install --ignore-scripts ../resource-registry-engine-1.0.0.tgz': {
    file: '.ci/run',
    as: '\n  npm install --ignore-scripts ../resource-registry-engine-1.0.0.tgz\n',
  },
  'npm ci': { file: '.ci/run', as: '\nnpm ci\n' },
  'npm test': { file: '.ci/run', as: 'npm test -- --all' },
  'npm test -- NAME …': { file: '.ci/run', as: 'npm test -- sqlite.stopping sqlite.workers' },
  'npm test -- search': { file: '.ci/run', as: 'npm test -- sqlite.stopping sqlite.workers' },
  'npm run test:postgres': { file: '.ci/run', as: 'npm run test:postgres -- --all' },
  'npm run lint': { file: '.ci/run', as: '\nnpm run lint\n' },
  'npm run typecheck': { file: '.ci/run', as: '\nnpm run typecheck\n' },
  'npm run clients': { file: '.ci/run', as: '\nnpm run clients ' },
  'npm run dev': { file: 'spec-tests/project/dev.test.ts', as: "project.start('npm run dev'" },
  'npm run torture': { file: 'spec-tests/cli/commands.test.ts', as: "['torture', '--rounds 1000', 'SIGINT']" },
  'npm run fuzz': { file: 'spec-tests/cli/commands.test.ts', as: "['fuzz', '--cases 1000000', 'SIGTERM']" },
  'npm run check': { file: 'spec-tests/descriptor/check.test.ts', as: "project.run('npm run check')" },
  'npm run plan': { file: 'docs/changing-a-resource.md', as: '\n$ npm run plan\n' },
  'npm run contract': { file: 'docs/commands.md', as: '\n$ npm run contract\n' },
  'npm run contract -- --accept': { file: 'docs/commands.md', as: '\n$ npm run contract -- --accept\n' },
  'npm run new': {
    file: 'docs/commands.md',
    as: '\n$ npm run new -- training-courses title:',
  },
  'npm run seed -- --demo training-courses': {
    file: 'docs/commands.md',
    as: '\n$ npm run seed -- --demo training-courses\n',
  },
  // Only their --help is run: they measure for minutes.
  'npm run tables': { file: 'spec-tests/cli/commands.test.ts', as: "how(name, '--help')" },
  'npm run bench': { file: 'spec-tests/cli/commands.test.ts', as: "how(name, '--help')" },
  'npm run soak': { file: 'spec-tests/cli/commands.test.ts', as: "how(name, '--help')" },
}

/** Commands with placeholders, or that would take longer: what is run. */
const examples: Record<string, string> = {
  'npm run backup': 'npm run backup -- data/backup.sqlite',
  'npm run copy': 'npm run copy -- --from sqlite:data/workforce.sqlite --to sqlite:data/copy.sqlite',
  'npm run import': "printf 'name\\nLegal\\n' > legal.csv && npm run import -- departments legal.csv",
  'npm run key': 'API_KEYS_FILE=keys.json npm run key -- ana --role hr',
  'npm run seed': 'npm run seed -- --rows 10 --resource employees',
  'npm run introspect': 'npm run introspect -- sqlite:data/inventory.sqlite',
}

const test = suite('README.md')

test('every command is a script of package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const name of Object.keys(commands).filter((one) => !['init', 'test'].includes(one)))
    assert.match(scripts[name] ?? '', new RegExp(`scripts/run\\.mjs ${name}$`), name)
})

for (const { command, output } of shown) {
  test(`$ ${command}`, async () => {
    const startCommand = /^(?:npm ci && |API_TOKEN=(\S+) )?npm start$/.exec(command)
    if (startCommand) {
      const [, token] = startCommand
      await start(token === undefined ? {} : { API_TOKEN: token })
    } else if (command.startsWith('curl ')) {
      const { status, stdout } = spawnSync('sh', ['-c', command.replaceAll('127.0.0.1:3000', service.address)], {
        encoding: 'utf8',
      })
      assert.is(status, 0)
      if (output !== undefined) assertShown(stdout, output)
    } else if (!(command in elsewhere)) {
      const { status, output: printed } = await project.run(command)
      assert.is(status, 0, printed)
    }
  })
}

test('the first start prints what the page shows', () => {
  assert.ok(readme.includes(`\n\`\`\`\n${firstMessages}\n\`\`\`\n`), firstMessages)
})

test('the database of another program, for npm run introspect', () => {
  const database = new Database(join(project.path, 'data', 'inventory.sqlite'))
  database.exec('create table warehouses (id integer primary key, name text not null)')
  database.close()
})

for (const command of new Set([...named, ...shown.map(({ command }) => command)])) {
  const { file, as } = elsewhere[command] ?? {}
  if (file !== undefined && as !== undefined) {
    test(`${command} is run by ${file}`, () => {
      assert.ok(`${read(file)}\n`.includes(as), `${file} has no ${as}`)
    })
  } else if (named.includes(command) && command !== 'npm start') {
    test(`$ ${examples[command] ?? command}`, async () => {
      const { status, output } = await project.run(examples[command] ?? command)
      assert.is(status, 0, output)
    })
  }
}

test('the service stops with code 0', async () => {
  assert.is(await service.stop(), 0)
})

test('"Make it yours" works', async () => {
  const [, block = ''] = /^```bash\n(rm .*?)^```$/ms.exec(readme) ?? []
  const [remove = '', create = '', start = ''] = block.trim().split('\n')
  assert.match(start, /npm start$/)
  for (const command of [remove, create, 'npm run check', 'npm run contract -- --accept']) {
    const { status, output } = await project.run(command)
    assert.is(status, 0, output)
  }
})

/** The cells of the rows whose second cell is the path of a resource. */
const endpointRows = [
  ...read('docs/api.md').matchAll(/^\| (.+?) +\| `\/api\/v1\/([\w-]+)` +\| (.*?) *\| (yes)? *\|$/gm),
]

test('the table of endpoints shows each resource as it is', () => {
  assert.is(endpointRows.length, 12)
  for (const [, plural, path, filters, create] of endpointRows) {
    const resource = example.find((one) => one.path === path)
    assert.ok(resource, path)
    const expected = resource.fields.filter(({ filter }) => filter).map(({ name }) => `\`${name}\``)
    assert.equal([plural, filters, create === 'yes'], [resource.plural, expected.join(', '), resource.create], path)
  }
})

test('docs/entities.svg shows the registry; npm run diagram draws it again', async () => {
  const recorded = read('docs/entities.svg')
  const registry = await loadRegistry(root)
  // Resources that were added since then may be missing.
  const drawn = registry.filter(({ plural }) => recorded.includes(`>${plural}</text>`))
  const withoutStyle = (svg: string) => svg.replace(/<style>.*<\/style>/s, '')
  assert.is(withoutStyle(recorded), withoutStyle(await standaloneDiagram(drawn)))
})

test.run()
