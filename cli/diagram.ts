/** Records the entity diagram of the registry for the README: `npm run diagram`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineCommand } from '../support/options.js'
import { standaloneDiagram } from './diagram/standalone.js'
import { projectFolder, projectRegistry } from './project.js'

const name = 'docs/entities.svg'

const command = {
  name: 'diagram',
  about: `Writes the entity diagram of the explorer to ${name}.`,
  options: {},
  example: '',
}

export default defineCommand(command, async () => {
  const diagram = await standaloneDiagram(await projectRegistry())
  mkdirSync(join(projectFolder(), 'docs'), { recursive: true })
  writeFileSync(join(projectFolder(), name), diagram)
  console.log(`Wrote ${name}.`)
})
