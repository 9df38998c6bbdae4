/** Records the entity diagram of the registry for the README: `npm run diagram`. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadRegistry } from '../engine/descriptor/load.js'
import { folders } from '../product.js'
import { runCommand } from '../support/options.js'
import { standaloneDiagram } from './diagram/standalone.js'

const name = 'docs/entities.svg'

const command = {
  name: 'npm run diagram',
  about: `Writes the entity diagram of the explorer to ${name}.`,
  options: {},
  example: 'npm run diagram',
}

await runCommand(command, async () => {
  const diagram = await standaloneDiagram(await loadRegistry(folders))
  writeFileSync(join(dirname(folders.seeds), name), diagram)
  console.log(`Wrote ${name}.`)
})
