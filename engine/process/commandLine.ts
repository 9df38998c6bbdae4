/** How messages name a command: as a script of this repository, or as the command of the installed package. */

/** The package is compiled into `dist/package`. */
const isInstalled = /[\\/]dist[\\/]package[\\/]/.test(import.meta.dirname)

/** `npm run plan -- --sql`, or `npx resource-registry-engine plan --sql`. */
export const commandLine = (name: string, args = ''): string => {
  if (isInstalled) return ['npx resource-registry-engine', name, args].filter(Boolean).join(' ')
  const script = name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`
  return args === '' ? script : `${script} -- ${args}`
}
