/** What somebody else has changed while a form was open: what was not touched follows, and about the rest the person decides. */
import { hasTooManyValues } from '../contract/jsonScan.js'
import type { Field, Registry, RowValues } from '../descriptor/registry.js'
import { oncePer } from '../process/oncePer.js'
import { controlText, type FormView, isSameText, type Posted, postedId, postedText } from './controlTexts.js'
import { cut } from './excerpt.js'
import { readable } from './format.js'
import { type Html, html } from './html.js'
import { referencedResource } from './names.js'

/** What the controls had when the form was opened; the form sends it along. */
export const openedTexts = (fields: readonly Field[], row: RowValues): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field.name, controlText(field, row[field.name] ?? null)])))

/** What a form says that its controls had, by name. */
const openedIn = oncePer((texts: URLSearchParams): Readonly<Record<string, unknown>> => {
  const source = texts.get('form.opened') ?? '{}'
  if (hasTooManyValues(Buffer.from(source), maxOpened)) return {}
  try {
    return Object(JSON.parse(source)) as Record<string, unknown>
  } catch {
    return {}
  }
})

/** Needed only where somebody else has changed the row. */
const openedText = ({ texts, status }: Posted, { name }: Field): string | undefined => {
  const text = status === 412 ? openedIn(texts)[name] : undefined
  return typeof text === 'string' ? text : undefined
}

interface ControlContent {
  readonly text: string
  /** What somebody else has changed, with the values to choose from. */
  readonly other?: Html
}

const maxLength = 40
/** The most texts of controls that are read. */
const maxOpened = 10_000

/** What a control shows: what was typed, or what is stored. */
export const shownText = (registry: Registry, field: Field, { row, labels, posted }: FormView): ControlContent => {
  const theirs = controlText(field, row?.[field.name] ?? null)
  const typed = posted && postedText(posted, field.name)
  // What is redacted is typed again.
  if (!posted || typed === undefined || field.redacted) return { text: theirs }
  const target = referencedResource(registry, field)
  const labelOf = (text: string) => target && labels(target, text)
  const before = openedText(posted, field)
  const mine = target ? (postedId(typed) ?? [theirs, before].find((id) => id && labelOf(id) === typed) ?? typed) : typed
  const isFollowed = before === undefined || isSameText(field, theirs, before) || isSameText(field, theirs, mine)
  if (posted.status !== 412 || isFollowed) return { text: mine }

  const valueName = (text: string): Html => {
    const short = text.slice(0, 2 * maxLength)
    const name = labelOf(text) ?? (text === '' ? 'nothing' : field.oneOf ? short : readable(field, short))
    return html`<bdi>${name.length > maxLength ? `${cut(name, 0, maxLength)}…` : name}</bdi>`
  }
  const choice = (verb: string, text: string): Html => {
    const label = labelOf(text)
    return html`<button type="button" data-value="${text}"${label !== undefined && html` data-label="${label}"`} hidden>${verb} ${valueName(text)}</button> `
  }
  if (isSameText(field, mine, before))
    return {
      text: theirs,
      other: html`<p class="other">Somebody else has changed this. <span class="without-script">It was ${valueName(before)}.</span> ${choice('Back to', before)}</p>`,
    }
  return {
    text: mine,
    other: html`<p class="other">Somebody else has changed this too. <span class="without-script">It is ${valueName(theirs)} now.</span> ${choice('Keep', mine)}${choice('Take', theirs)}</p>`,
  }
}

/** The ids in a field that a form shows the labels of: what is stored, what was sent, and what was there before. */
export const shownIds = ({ row, posted }: Omit<FormView, 'labels'>, field: Field): unknown[] => {
  const texts = posted ? [postedId(postedText(posted, field.name)), openedText(posted, field)] : []
  return [row?.[field.name] ?? null, ...texts.map((text) => text ?? null)]
}
