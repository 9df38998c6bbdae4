/** The names that fields, tables and paths may have. */

/** Whether a field may have a name, as far as its letters go. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z][a-z0-9_]{0,59}$/.test(value)

/** Whether a table may have a name; the databases and the service use names that begin otherwise. */
export const isTableName = (value: unknown): boolean => isName(value) && !/^(?:sqlite|pg|registry)_/.test(value)

/** Whether a text can be the name of a table or column of another program. Names that begin with `registry_` are for the service's own tables. */
export const isForeignName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('\0') && !value.startsWith('registry_')

/** Whether the path of a resource is lower-case words joined by "-". */
export const isPath = (path: string): boolean => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(path)

/** Whether the service itself serves a path. */
export const isReservedPath = (path: string): boolean => path === 'health'
