/** HTML as a tagged template that escapes every value. */

/** Source that is safe to send; the class is not exported, so only `html` makes it. */
class SafeHtml {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

export type Html = SafeHtml

/** A value of a template: texts and numbers are escaped, Html is not; undefined, null and false are left out. */
export type Part = string | number | bigint | Html | readonly Part[] | undefined | null | false

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const renderPart = (part: Part): string => {
  if (part instanceof SafeHtml) return part.source
  if (part === undefined || part === null || part === false) return ''
  if (typeof part === 'object') return part.map(renderPart).join('')
  return String(part).replaceAll(/[&<>"']/g, (sign) => entities[sign] as string)
}

/** Escapes for content and quoted attributes; a template must quote its attributes. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new SafeHtml(String.raw({ raw: strings.map((text) => text.replaceAll(/\n\s*/g, '\n')) }, ...parts.map(renderPart)))

export const hiddenInputs = (parameters: Iterable<readonly [name: string, value: string]>): Html[] =>
  [...parameters].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

export const joined = (parts: readonly Part[], separator: Part): Part[] =>
  parts.flatMap((part, n) => (n === 0 ? [part] : [separator, part]))
