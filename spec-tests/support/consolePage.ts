/** A page whose console blocks show commands and their output. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../support/root.js'

export const readPage = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8')

/** The commands of a page, each with the output that follows it. */
export const commandsIn = (page: string): { command: string; output: string }[] =>
  [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const end = part.indexOf('\n')
        return { command: part.slice(0, end), output: part.slice(end + 1).trim() }
      }),
  )
