/** The commands that a page shows in its `sh` blocks, each with the output that is shown below it. */
export interface ShownCommand {
  readonly command: string
  /** The block that directly follows, if the command is the last of its block. */
  readonly output: string | undefined
}

/** The lines of a block: continued lines are joined, comments removed. */
const linesOf = (block: string): string[] =>
  block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '')

export const shellCommandsIn = (page: string): ShownCommand[] =>
  [...page.matchAll(/^```sh\n(.*?)^```\n(?:```(?:json)?\n(.*?)^```$)?/gms)].flatMap(([, block = '', output]) => {
    const lines = linesOf(block)
    return lines.map((command, n) => ({ command, output: n === lines.length - 1 ? output?.trim() : undefined }))
  })

/** The npm commands that a page names in its text and tables. */
export const inlineCommandsIn = (page: string): string[] => [
  ...new Set(
    [...page.replaceAll(/^```.*?^```$/gms, '').matchAll(/`(npm [^`]+)`/g)].map(([, command]) => command as string),
  ),
]
