/** The rows of a file that is imported, as people read them: the first ones, or those that are wrong, with each issue at its cell. */
import type { Issue } from '../contract/errors.js'
import { arrayElements, type ImportType } from '../contract/importRows.js'
import { delimiterIn, readCsv } from '../contract/readCsv.js'
import { bodyLimit } from '../contract/rowBody.js'
import type { Resource } from '../descriptor/registry.js'
import { inTurns } from '../process/batchPerTick.js'
import { cut } from './excerpt.js'
import { type Html, html } from './html.js'

interface PreviewRow {
  /** Where it is in the file; in an array its number. */
  readonly line: number
  readonly cells: Readonly<Record<string, string>>
}

const memberText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

const jsonCells = (source: string): PreviewRow['cells'] => {
  try {
    const row: unknown = source.length > bodyLimit ? {} : JSON.parse(source)
    return Object.fromEntries(Object.entries(Object(row)).map(([name, value]) => [name, memberText(value)]))
  } catch {
    return {}
  }
}

function* csvRows(text: string): Generator<PreviewRow> {
  let header: readonly string[] | undefined
  for (const { line, cells } of readCsv(text, delimiterIn(text))) {
    const texts = cells.map((cell) => cell.text)
    if (header) yield { line, cells: Object.fromEntries(header.map((name, n) => [name, texts[n] ?? ''])) }
    header ??= texts
  }
}

function* ndjsonRows(text: string): Generator<PreviewRow> {
  let line = 0
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at)
    const end = next === -1 ? text.length : next
    const source = text.slice(at, end)
    line++
    if (source.trim() !== '') yield { line, cells: jsonCells(source) }
    at = end + 1
  }
}

function* arrayRows(text: string): Generator<PreviewRow> {
  let line = 0
  const createError = () => new Error('This is no array.')
  for (const element of arrayElements(text, text.indexOf('[') + 1, /^\s*$/, createError))
    yield { line: ++line, cells: jsonCells(element) }
}

const readers = { 'text/csv': csvRows, 'application/x-ndjson': ndjsonRows, 'application/json': arrayRows }

/** How many rows are shown of a file without an error, how many columns, and how much of a cell. */
const [sampleSize, maxColumns, maxLength] = [5, 100, 200]

const isOfRow = ({ loc }: Issue): boolean => typeof loc[1] === 'number'

/** A table of the rows with issues, each at its cell; without issues, of the first rows. Undefined if there are none. */
export const importPreview = async (
  { fields }: Resource,
  type: ImportType,
  bytes: Buffer,
  issues: readonly Issue[],
): Promise<Html | undefined> => {
  const pause = inTurns()
  const byRow = new Map<number, Issue[]>()
  for (const issue of issues.filter(isOfRow)) {
    const row = issue.loc[1] as number
    byRow.set(row, [...(byRow.get(row) ?? []), issue])
  }
  if (issues.length > 0 && byRow.size === 0) return undefined
  const last = Math.max(sampleSize - 1, ...byRow.keys())
  const picked: (PreviewRow & { readonly issues: readonly Issue[] })[] = []
  let n = 0
  try {
    for (const row of readers[type](bytes.toString().replace(/^\uFEFF/, ''))) {
      await pause()
      if (byRow.size > 0 ? byRow.has(n) : n < sampleSize) picked.push({ ...row, issues: byRow.get(n) ?? [] })
      if (n++ >= last) break
    }
  } catch {
    // What cannot be read further is not shown.
  }
  if (picked.length === 0) return undefined
  const names = new Set(picked.flatMap(({ cells }) => Object.keys(cells)))
  for (const { loc } of issues) if (isOfRow({ loc } as Issue) && loc.length > 2) names.add(String(loc[2]))
  const shownNames = [...names].slice(0, maxColumns)
  const messages = (list: readonly Issue[]) => list.map(({ msg }) => html`<small class="issue">${msg}</small>`)
  const cell = (row: (typeof picked)[number], name: string): Html => {
    const cellIssues = row.issues.filter(({ loc }) => loc.length > 2 && String(loc[2]) === name)
    const isRedacted = fields.some((field) => field.name === name && field.redacted)
    const text = isRedacted ? 'redacted' : (row.cells[name] ?? '')
    const shortText = text.length > maxLength ? `${cut(text, 0, maxLength)}…` : text
    return html`<td class="${cellIssues.length > 0 && 'wrong'}"><bdi>${shortText}</bdi>${messages(cellIssues)}</td>`
  }
  const lines = picked.map(
    (row) =>
      html`<tr><th scope="row">${row.line}${messages(row.issues.filter(({ loc }) => loc.length < 3))}</th>${shownNames.map((name) => cell(row, name))}</tr>`,
  )
  const heads = [type === 'application/json' ? 'Row' : 'Line', ...shownNames]
  return html`<div class="scroll preview" role="region" aria-label="${byRow.size > 0 ? 'Rows with errors' : 'The first rows'}" tabindex="0"><table><thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${lines}</tbody></table></div>`
}
