/** The file with the digests of API keys: adds a key, and removes one. */
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { service } from '../engine/descriptor/access.js'
import { didYouMean } from '../engine/descriptor/nearest.js'
import { type ApiKey, digestOf, parseKeys } from '../engine/http/keys.js'
import { CommandError } from '../support/options.js'

/** The keys that the file has; none if there is no file yet. */
const readKeys = (path: string): ApiKey[] => {
  if (!existsSync(path)) return []
  try {
    return parseKeys(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CommandError(`API_KEYS_FILE cannot be used: ${(error as Error).message}.`)
  }
}

const writeKeys = (path: string, keys: readonly ApiKey[]): void => {
  const text = JSON.stringify(keys, null, 2)
  parseKeys(text)
  // Under another name first, so that a service never reads half a file.
  const written = `${path}.${process.pid}`
  try {
    writeFileSync(written, `${text}\n`, { mode: 0o600 })
    // The user that runs the service must still be able to read it.
    const { mode, uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mode !== undefined) chmodSync(written, mode)
    if (uid !== undefined && gid !== undefined && process.getuid?.() === 0) chownSync(written, uid, gid)
    renameSync(written, path)
  } catch (error) {
    throw new CommandError(`The file with the keys was not changed: ${(error as Error).message}`)
  }
}

/** Makes a key, adds its digest to the file, and returns the key, which is nowhere else. */
export const addKey = (path: string, { name, roles, claims, expires }: Omit<ApiKey, 'sha256'>): string => {
  const keys = readKeys(path)
  if (name === service.name)
    throw new CommandError(`A key cannot have the name ${name}, which is that of the write token.`)
  if (keys.some((other) => other.name === name))
    throw new CommandError(`There is a key with the name "${name}" already.`)
  const key = randomBytes(32).toString('base64url')
  const added = { name, roles, ...(claims && { claims }), sha256: digestOf(key), ...(expires && { expires }) }
  writeKeys(path, [...keys, added])
  return key
}

/** Removes the entry of a key. */
export const removeKey = (path: string, name: string): void => {
  const keys = readKeys(path)
  if (!keys.some((other) => other.name === name)) {
    const near = didYouMean(
      name,
      keys.map((other) => other.name),
    )
    throw new CommandError(`There is no key with the name "${name}"${near || '.'}`)
  }
  writeKeys(
    path,
    keys.filter((other) => other.name !== name),
  )
}
