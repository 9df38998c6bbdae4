/** `npm run seed` on every shape of resource, twice. */
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folders } from '../product.js'
import { kitchenSink } from './support/kitchenSink.js'
import { copyOfProject } from './support/project.js'

const source = 'spec-tests/support/kitchenSink.ts'
const project = copyOfProject()
cpSync(join(dirname(folders.seeds), source), join(project.path, source), { recursive: true })
for (const { path } of kitchenSink) {
  project.write(
    `resources/${path}.ts`,
    `import { descriptors } from '../spec-tests/support/kitchenSink.js'\nexport default descriptors['${path}']\n`,
  )
}
const env = { DATABASE_URL: `sqlite:${join(project.path, 'seeded.sqlite')}` }

const test = suite('seed')

for (const path of [...kitchenSink.map((resource) => resource.path), 'employees', 'leave']) {
  test(`${path} can be seeded twice`, async () => {
    for (let time = 1; time <= 2; time++) {
      const { status, stderr } = await project.run('seed', `--rows 20 --resource ${path}`, env)
      assert.is(status, 0, stderr)
    }
  })
}

test('more rows than there are rows to reference are refused, and none is added', async () => {
  assert.equal(await project.run('seed', '--rows 1000 --resource sink-bowls', env), {
    status: 1,
    stdout: '',
    stderr:
      'Only 150 rows can be added: each must reference a row of sink-basins in basin_id that no other does. Add rows to sink-basins first.\n',
  })
})

test.run()
