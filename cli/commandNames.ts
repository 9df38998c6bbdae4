/** The names of the commands of the package, in the order of its help. */
// biome-ignore format: one list
export const commandNames: readonly string[] = [
  'init', 'start', 'dev', 'check', 'test', 'new', 'contract', 'plan', 'migrate', 'seed', 'import', 'key', 'introspect', 'copy',
  'backup', 'diagram',
]
