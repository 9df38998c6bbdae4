/** The table of docs/commands.md, from the definitions of the commands. */
import { commands } from './commands.js'

export const commandsTable = async (): Promise<string> => {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  const rows = loaded.map(({ default: { definition } }) => {
    const { name, about, argument, moreArguments, options } = definition
    const call = [
      name,
      argument && (argument.required ? argument.name : `[${argument.name}]`),
      moreArguments && `[${moreArguments.name} …]`,
    ]
    const flags = Object.entries(options).map(
      ([option, { placeholder }]) => `\`--${option}${placeholder ? ` ${placeholder}` : ''}\``,
    )
    return `| \`${call.filter(Boolean).join(' ')}\` | ${about} | ${flags.join(', ')} |`
  })
  return ['| command | what it does | options |', '| ------- | ------------ | ------- |', ...rows].join('\n')
}
