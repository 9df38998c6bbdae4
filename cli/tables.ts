/** `npm run tables`: writes the tables of docs/ that say what the code says: commands, settings, and properties of descriptors. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kindNames } from '../engine/descriptor/kinds/index.js'
import { optionRows } from '../engine/descriptor/options.js'
import { settingRows } from '../engine/process/settings.js'
import { CommandError, callOf, defineCommand, flag, optionCalls, runCommand } from '../support/options.js'
import { root } from '../support/root.js'
import { commands } from './commands.js'

const command = {
  name: 'tables',
  about: 'Writes the tables of commands, settings and properties of descriptors in docs/ from the code.',
  options: { check: flag('fail if a table differs, and write nothing') },
  example: '--check',
}

interface Table {
  readonly page: string
  readonly head: string
  readonly rows: readonly (readonly string[])[]
}

const code = (text: string): string => `\`${text}\``

/** The properties of the declaration that begins with a line, and their comments, which editors show too. */
const commentedProperties = (file: string, first: string): { name: string; isOptional: boolean; about: string }[] => {
  const text = readFileSync(join(root, file), 'utf8')
  const start = text.indexOf(first)
  const declared = text.slice(start, text.indexOf('\n}\n', start))
  return [...declared.matchAll(/^ {2}\/\*\*(.*?)\*\/\n {2}(?:readonly )?(\w+)(\??):/gms)].map(
    ([, comment = '', name = '', mark]) => ({
      name,
      isOptional: mark === '?',
      about: comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim(),
    }),
  )
}

const describeKinds = (kinds: readonly string[]): string => {
  const others = kindNames.filter((kind) => !kinds.includes(kind))
  if (others.length === 0) return 'all'
  return others.length < 4 ? `all but ${others.join(', ')}` : kinds.join(', ')
}

const createTables = async (): Promise<Table[]> => {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  const fieldKinds = new Map<string, readonly string[]>(
    optionRows.map(([name, { kinds }]) => [name, kinds ?? kindNames]),
  )
  return [
    {
      page: 'docs/commands.md',
      head: '| command | what it does | options |',
      rows: loaded.map(({ default: { definition } }) => [
        code(callOf(definition)),
        definition.about,
        optionCalls(definition).map(code).join(', '),
      ]),
    },
    {
      page: 'docs/operations.md',
      head: '| variable | default | value | meaning |',
      rows: settingRows.map(({ name, about, preset, expected }) => [
        code(name),
        preset && code(preset),
        expected,
        about,
      ]),
    },
    {
      page: 'docs/descriptors.md',
      head: '| property | required | meaning |',
      rows: commentedProperties('engine/descriptor/define.ts', 'export interface Descriptor<').map(
        ({ name, isOptional, about }) => [code(name), isOptional ? '' : 'yes', about],
      ),
    },
    {
      page: 'docs/descriptors.md',
      head: '| option | kinds | meaning |',
      rows: commentedProperties('engine/descriptor/options.ts', 'export const fieldOptions')
        .filter(({ name }) => fieldKinds.get(name)?.length)
        .map(({ name, about }) => [code(name), describeKinds(fieldKinds.get(name) ?? []), about]),
    },
  ]
}

/** The text of a page in which the table with this head has these rows. */
const withTable = (text: string, { page, head, rows }: Table): string => {
  const start = text.indexOf(`${head}\n`)
  if (start === -1) throw new CommandError(`${page} has no table that begins with ${head}`)
  const end = start + (/^(?:\|.*\n)+/.exec(text.slice(start))?.[0].length ?? 0)
  const separator = head.replaceAll(/[^|]+/g, ' --- ')
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  return `${text.slice(0, start)}${[head, separator, ...lines].join('\n')}\n${text.slice(end)}`
}

await runCommand(
  defineCommand(command, async ({ check }) => {
    const tables = await createTables()
    for (const page of new Set(tables.map((table) => table.page))) {
      const before = readFileSync(join(root, page), 'utf8')
      const after = tables.filter((table) => table.page === page).reduce(withTable, before)
      if (after === before) continue
      if (check) throw new CommandError(`A table of ${page} differs from the code. Write it with: npm run tables`)
      writeFileSync(join(root, page), after)
      console.log(`Wrote the tables of ${page}.`)
    }
  }),
)
