/** The flags that `npm start` gives to Node: what is tried and measured runs as the service does. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../product.js'

const manifest = readFileSync(join(dirname(folders.seeds), 'package.json'), 'utf8')
const { scripts } = JSON.parse(manifest) as { scripts: { start: string } }

export const startFlags: readonly string[] = scripts.start.match(/--\S+/g) ?? []
