/** The kinds of difference between two OpenAPI documents, as data: their messages, and which clients they break and why. */

/** A request is what clients send, a response what they receive. */
type Side = 'request' | 'response'

export interface Detail {
  readonly subject: string
  readonly side: Side
  readonly before?: unknown
  readonly after?: unknown
}

interface Rule {
  /** What follows the subject, alike for both sides or different; or the whole sentence. */
  readonly text: string | Readonly<Record<Side, string>> | ((detail: Detail) => string)
  /** Why it breaks clients, by the side on which it happens; a side that is not listed breaks no client. */
  readonly breaks?: Partial<Readonly<Record<Side, string>>>
  /** Why it breaks code that was generated from the document. */
  readonly breaksGenerated?: string
}

const show = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value))
const changes = ({ subject, before, after }: Detail): string =>
  `${subject} changes from ${show(before)} to ${show(after)}`
const changed =
  (what: string) =>
  (detail: Detail): string =>
    changes({ ...detail, subject: `${detail.subject}: the ${what}` })

const refused = 'requests that were valid are refused'
const unexpected = 'clients receive values that they did not expect'

export const rules = {
  'operation-added': { text: 'is new' },
  'operation-removed': { text: 'is gone', breaks: { request: 'requests to it get 404 or 405' } },
  'operation-renamed': { text: changed('operation id'), breaksGenerated: 'its function has another name' },
  'schema-renamed': { text: changed('name'), breaksGenerated: 'its type has another name' },
  'base-path-changed': { text: changed('base path'), breaks: { request: 'requests go to the former path' } },
  'token-required': { text: 'requires the write token', breaks: { request: 'requests without it get 401' } },
  'token-not-required': { text: 'no longer requires the write token' },
  'token-scheme-changed': { text: changed('form of the token'), breaks: { request: 'requests without it get 401' } },

  'parameter-added': { text: 'is new' },
  'required-parameter-added': { text: 'is new and required', breaks: { request: 'requests without it are refused' } },
  'parameter-removed': { text: 'is gone', breaks: { request: 'the service ignores it' } },

  'body-added': { text: 'is new', breaks: { request: 'requests without it are refused' } },
  'body-removed': { text: 'is gone', breaks: { request: 'the service ignores it' } },
  'media-type-added': { text: 'is new' },
  'media-type-removed': {
    text: 'is gone',
    breaks: { request: 'requests that send it are refused', response: 'clients that ask for it get another' },
  },
  'status-added': { text: 'is new' },
  'success-removed': { text: 'is gone', breaks: { response: 'clients that expect it get another' } },
  'error-removed': { text: 'is gone' },
  'header-added': { text: 'is new' },
  'header-removed': { text: 'is gone', breaks: { response: 'clients that read it find nothing' } },

  'field-added': { text: 'is new' },
  'required-field-added': { text: 'is new and required', breaks: { request: 'bodies without it are refused' } },
  'field-removed': {
    text: 'is gone',
    breaks: { request: 'bodies that send it are refused', response: 'clients that read it find nothing' },
  },
  'became-required': {
    text: { request: 'becomes required', response: 'is always present' },
    breaks: { request: 'requests without it are refused' },
  },
  'became-optional': {
    text: { request: 'is no longer required', response: 'may be null or missing' },
    breaks: { response: 'clients that rely on it find nothing' },
  },
  'null-added': {
    text: { request: 'accepts null', response: 'may be null' },
    breaks: { response: 'clients that rely on its value find null' },
  },
  'null-removed': {
    text: { request: 'no longer accepts null', response: 'is never null' },
    breaks: { request: 'requests with null are refused' },
  },
  'type-changed': { text: changed('type'), breaks: { request: refused, response: unexpected } },
  'type-widened': { text: changed('type'), breaks: { response: unexpected } },
  'type-narrowed': { text: changed('type'), breaks: { request: refused } },
  'value-added': { text: ({ subject, after }) => `${subject} may be ${show(after)}`, breaks: { response: unexpected } },
  'value-removed': {
    text: ({ subject, before }) => `${subject} is no longer ${show(before)}`,
    breaks: { request: refused },
  },
  'bound-tightened': { text: changes, breaks: { request: refused } },
  'bound-loosened': { text: changes, breaks: { response: unexpected } },
  'pattern-changed': { text: changed('pattern'), breaks: { request: refused, response: unexpected } },
  closed: { text: 'accepts no unknown properties', breaks: { request: refused } },
  opened: { text: 'accepts unknown properties' },
  'default-changed': { text: changed('default'), breaks: { request: 'the same request has another result' } },
  'unique-tightened': { text: { request: 'must be unique', response: 'is unique' }, breaks: { request: refused } },
  'unique-loosened': { text: 'is no longer unique', breaks: { response: 'several rows may share a value' } },
  'reference-added': {
    text: { request: 'must reference an existing row', response: 'references a row' },
    breaks: { request: refused },
  },
  'reference-removed': {
    text: 'no longer references a row',
    breaks: { response: 'the row that it names may not exist' },
  },
  'reference-changed': {
    text: changed('referenced resource'),
    breaks: { request: refused, response: 'it names a row of another resource' },
  },
  'rule-added': { text: ({ subject, after }) => `${subject} has a new rule: ${after}`, breaks: { request: refused } },
  'rule-removed': { text: ({ subject, before }) => `${subject} no longer has the rule: ${before}` },
  'steps-limited': { text: 'can only be changed step by step', breaks: { request: refused } },
  'steps-free': { text: 'can be changed to any value' },
  'step-added': { text: ({ subject, after }) => `${subject} can be changed: ${after}` },
  'step-removed': {
    text: ({ subject, before }) => `${subject} can no longer be changed: ${before}`,
    breaks: { request: refused },
  },
  // What it breaks follows from the values that the field may have.
  'start-changed': { text: changed('list of values for new rows') },
  redacted: { text: 'is always null', breaks: { response: 'clients that read its value find null' } },
  revealed: { text: 'is no longer redacted: every client sees its values' },
  'access-lost': {
    text: ({ subject, before }) => `${subject} is no longer allowed for ${show(before)}`,
    breaks: { request: 'its requests get 401 or 403' },
  },
  'access-gained': { text: ({ subject, after }) => `${subject} is allowed for ${show(after)}` },
  'field-hidden': {
    text: ({ subject, before, after }) =>
      `${subject} is null for all but ${show(after)} (before: ${before === undefined ? 'shown to everybody' : show(before)})`,
    breaks: { response: 'clients that read its value find null', request: refused },
  },
  'field-shown': {
    text: ({ subject, after }) => `${subject} is shown to ${after === undefined ? 'everybody' : show(after)}`,
  },
  'field-locked': {
    text: ({ subject, before, after }) =>
      `${subject} is set only by ${show(after)} (before: ${before === undefined ? 'everybody who may write the row' : show(before)})`,
    breaks: { request: 'requests of others that send it are refused' },
  },
  'field-unlocked': {
    text: ({ subject, after }) =>
      `${subject} is set by ${after === undefined ? 'everybody who may write the row' : show(after)}`,
  },
  'keyword-changed': {
    text: changes,
    breaks: { request: 'unknown effect on requests', response: 'unknown effect on responses' },
  },

  'tag-changed': { text: changed('group') },
  'description-changed': { text: 'is described differently' },
  'example-changed': { text: 'has another example' },
  'order-changed': { text: 'has its parts in another order' },
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof rules

export const getRule = (name: RuleName): Rule => rules[name]

/** What differs, as a sentence without its full stop. */
export const describe = (name: RuleName, detail: Detail): string => {
  const { text } = getRule(name)
  if (typeof text === 'function') return text(detail)
  return `${detail.subject} ${typeof text === 'string' ? text : text[detail.side]}`
}
