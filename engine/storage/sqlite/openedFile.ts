/** The database file that was opened, and whether it is still at its path. */
import { statSync } from 'node:fs'

/** Identifies the file at a path; undefined if there is none. */
export const fileIdentity = (path: string): string | undefined => {
  const file = statSync(path, { throwIfNoEntry: false, bigint: true })
  return file && `${file.dev}:${file.ino}`
}

export interface OpenedFile {
  readonly path: string
  readonly identity: string | undefined
  /** Whether the whole file belongs to other programs, so that even its journal stays as it is. */
  readonly isUnmanaged: boolean
}

/** Throws if the file has been moved or replaced since it was opened. */
export const refuseMoved = ({ path, identity }: OpenedFile): void => {
  if (fileIdentity(path) !== identity)
    throw new Error('the database file was moved or replaced; put it back, or restart the service')
}
