/** Asks in a terminal for what is missing on the command line. */
import { createInterface } from 'node:readline/promises'
import type { Registry } from '../../engine/descriptor/registry.js'
import { CommandError, UsageError } from '../../support/options.js'
import { parseFields } from './fieldArgument.js'
import { checkPath, defaultArea } from './names.js'

/** The command line, of which parts may be missing. */
export interface Given {
  readonly path: string | undefined
  readonly fields: readonly string[]
  readonly area: string | undefined
  readonly about: string | undefined
  readonly create: boolean
}

interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** Asks until the answer passes the check. */
const repeatedly = async <T>(ask: () => Promise<T>, say: (text: string) => void): Promise<T> => {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      say(error.message)
    }
  }
}

/** Returns the given values with the answers to what was missing. */
export const askMissing = async (given: Given, registry: Registry, terminal: Terminal): Promise<Given> => {
  const lines = createInterface({ ...terminal, terminal: terminal.output === process.stdout })
  const closed = new AbortController()
  lines.once('close', () => closed.abort())
  const say = (text: string) => void terminal.output.write(`${text}\n`)
  const ask = async (question: string): Promise<string> => {
    try {
      return (await lines.question(question, { signal: closed.signal })).trim()
    } catch {
      throw new CommandError('Cancelled; nothing was written.')
    }
  }
  const askPath = async () => {
    const path = await ask('Path, such as training-courses: ')
    checkPath(path, registry)
    return path
  }
  const askField = async (path: string, before: readonly string[]): Promise<string> => {
    const hint = before.length > 0 ? ' (Enter to finish)' : ''
    const answer = await ask(`Field ${before.length + 1}, such as title:text!${hint}: `)
    if (answer !== '' || before.length === 0) parseFields([...before, answer], registry, path)
    return answer
  }

  try {
    const isAskedForAll = given.path === undefined
    const path = given.path ?? (await repeatedly(askPath, say))
    const fields = [...given.fields]
    while (given.fields.length === 0) {
      const answer = await repeatedly(() => askField(path, fields), say)
      if (answer === '') break
      fields.push(answer)
    }
    const create = given.create || (isAskedForAll && /^y/i.test(await ask('May clients create rows? [y/N] ')))
    const area = defaultArea(fields, registry)
    const about = given.about ?? (await ask('One sentence that describes a row (Enter for none): '))
    return {
      path,
      fields,
      create,
      area: given.area ?? ((await ask(`Group in the documents [${area}]: `)) || area),
      about: about || undefined,
    }
  } finally {
    lines.close()
  }
}
