/** Reads the demo rows from the files in `seeds/`. */
import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonErrorIndex } from '../process/jsonError.js'
import { pathHint } from './nearest.js'
import type { Target } from './options.js'
import type { RowValues } from './registry.js'
import { type FileError, reportIn } from './registryError.js'
import { duplicatesIn, positionBetween, type SourceFile, seedSource } from './sourceFile.js'

interface SeedFile {
  readonly file: string
  readonly source: SourceFile
  readonly rows: RowValues[] | undefined
}

const isRow = (row: unknown): row is RowValues => typeof row === 'object' && row !== null && !Array.isArray(row)

const jsonError = (file: string, text: string): FileError => {
  const at = jsonErrorIndex(text)
  const sign = text[at] ?? ''
  const hint = /,\s*$/.test(text.slice(0, at)) && /[\]}]/.test(sign) ? '; remove the comma before it' : ''
  const what = sign === '' ? 'it ends too early' : `unexpected ${JSON.stringify(sign)}${hint}`
  // An error at the end of the file is shown after its last line.
  const start = sign === '' ? text.trimEnd().length : at
  const position = positionBetween({ text }, start, start + 1)
  return { file, message: `is not valid JSON: ${what}`, position }
}

/** Whether rows have fewer properties than their text, because JSON.parse keeps only the last of two. */
const hasDuplicates = (text: string, rows: readonly unknown[]): boolean => {
  let written = 0
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) written++
  for (const row of rows) if (isRow(row)) written -= Object.keys(row).length
  return written > 0
}

const readSeedFile = (file: string, bytes: Buffer, errors: FileError[]): SeedFile => {
  // The decoder removes a byte order mark, which some editors write.
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes) : undefined
  const source = seedSource(text ?? '')
  const report = reportIn(errors, file, source)
  if (text === undefined) {
    report('is not UTF-8; save it with that encoding')
    return { file, source, rows: undefined }
  }
  let rows: unknown
  try {
    rows = JSON.parse(text)
  } catch {
    errors.push(jsonError(file, text))
    return { file, source, rows: undefined }
  }
  const invalidIndex = Array.isArray(rows) ? rows.findIndex((row) => !isRow(row)) : 0
  if (!Array.isArray(rows)) report('must be an array of objects, such as [{"id": 1}]')
  else if (invalidIndex >= 0) report(`row ${invalidIndex + 1} must be an object, such as {"id": 1}`, invalidIndex)
  for (const { place, firstLine } of Array.isArray(rows) && hasDuplicates(text, rows) ? duplicatesIn(source) : []) {
    const what = `row ${Number(place[0]) + 1} has "${place.at(-1)}" twice`
    report(`${what}, first in line ${firstLine}; remove one of the two`, ...place)
  }
  return { file, source, rows: Array.isArray(rows) && invalidIndex < 0 ? rows : undefined }
}

export const readSeedFiles = (folder: string, targets: readonly Target[], errors: FileError[]) => {
  const files = new Map<string, SeedFile>()
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const { name } = entry
    const file = `seeds/${name}`
    const path = name.replace(/\.json$/, '')
    if (entry.isDirectory()) reportIn(errors, `${file}/`)('is a folder, which is not read; move its files into seeds/')
    else if (!name.endsWith('.json')) continue
    else if (targets.some((target) => target.path === path)) {
      files.set(path, readSeedFile(file, readFileSync(join(folder, name)), errors))
    } else if (targets.length > 0) reportIn(errors, file)(`there is no resource "${path}"${pathHint(path, targets)}`)
  }
  return files
}
